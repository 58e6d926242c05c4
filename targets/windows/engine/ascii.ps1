# --- printing ------------------------------------------------------------------

# What goes to a file by > passes the code page of the console, which has not
# every letter of a name: JSON can say them all in ASCII.
function ConvertTo-Ascii {
    param([string]$Text)
    $parts = @(foreach ($c in $Text.ToCharArray()) {
            if ([int][char]$c -gt 126) { '\u{0:x4}' -f [int][char]$c } else { [string]$c }
        })
    $parts -join ''
}
