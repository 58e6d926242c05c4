"""Compares fragments of config_db.json with the running configuration.

usage: rocec-check.py missing RUNNING FRAGMENT...   fields that are not as the fragments say
       rocec-check.py overlap RUNNING FRAGMENT...   rows for a range of queues or groups that ours would meet
       rocec-check.py absent  RUNNING LIST FRAGMENT...   rows and fields that the list forbids and no fragment has
       rocec-check.py moves   RUNNING FRAGMENT...   interfaces that are in another VRF than the fragments say
       rocec-check.py restarts RUNNING FRAGMENT...  prints the ports whose watchdog runs with another action, other times or priorities
       rocec-check.py groups  RUNNING FRAGMENT...   priorities with PFC whose group has no lossless buffer, or one for another speed or cable
       rocec-check.py settle  RUNNING LIST FRAGMENT...   prints the commands to the database that bring the lossless groups in order
       rocec-check.py splits  RUNNING FRAGMENT...   prints the ports that are split otherwise, and the mode they shall have
       rocec-check.py back    BEFORE RUNNING [FRAGMENT...]   prints the commands to the database that undo what the config updater refuses to
"""
import json
import sys


def load(name):
    with open(name, encoding="utf-8") as f:
        return json.load(f)


def rows(fragments):
    for fragment in fragments:
        for table, keys in fragment.items():
            for key, fields in keys.items():
                yield table, key, fields


def missing(running, fragments):
    for table, key, fields in rows(fragments):
        have = running.get(table, {}).get(key)
        if have is None:
            yield f"{table}|{key} is missing"
            continue
        for field, want in fields.items():
            if have.get(field) != want:
                yield f"{table}|{key} {field} is {have.get(field)!r}, wanted {want!r}"


def span(key):
    port, _, index = key.partition("|")
    low, _, high = index.partition("-")
    if not low.isdigit() or (high and not high.isdigit()):
        return port, range(0)
    return port, range(int(low), int(high or low) + 1)


def overlap(running, fragments):
    for table, key, _ in rows(fragments):
        if table not in ("QUEUE", "BUFFER_PG", "BUFFER_QUEUE"):
            continue
        port, ours = span(key)
        for other in running.get(table, {}):
            theirs_port, theirs = span(other)
            if other != key and theirs_port == port and set(ours) & set(theirs):
                yield (f"{table}|{other} overlaps with {table}|{key}: "
                       f"capture the running configuration and apply the patch that rocec makes from it")


def fits(pattern, text):
    head, star, tail = pattern.partition("*")
    return pattern == text if not star else (
        len(text) >= len(head) + len(tail) and text.startswith(head) and text.endswith(tail))


def meets(table, patterns, key):
    if key in patterns:
        return True
    if table == "QUEUE":
        port, queues = span(key)
        return any(f"{port}|{queue}" in patterns for queue in queues)
    return any(fits(pattern, key) for pattern in patterns if "*" in pattern)


def forbidden(running, listed, fragments):
    wanted = {(table, key): fields for table, key, fields in rows(fragments)}
    for entry in listed:
        table, field, patterns = entry["table"], entry["field"], set(entry["keys"])
        for key, have in running.get(table, {}).items():
            if field and (field not in have or not fits(entry["value"], have[field])):
                continue
            if key in entry["keep"] or not meets(table, patterns, key):
                continue
            if entry["row"] and (table, key) not in wanted:
                yield table, key, ""
            elif not entry["row"] and field not in wanted.get((table, key), {}):
                yield table, key, f" {field} = {have[field]}"


def absent(running, fragments):
    for table, key, field in forbidden(running, fragments[0], fragments[1:]):
        yield f"{table}|{key}{field} has to go: capture the running configuration and apply the patch that rocec makes from it"


def moves(running, fragments):
    for table, key, fields in rows(fragments):
        have = running.get(table, {}).get(key)
        if "vrf_name" in fields and have is not None and have.get("vrf_name") != fields["vrf_name"]:
            yield (f"{table}|{key} is in {have.get('vrf_name', 'the default VRF')} and has to leave it first: "
                   f"capture the running configuration and apply the patch that rocec makes from it")


def restarts(running, fragments):
    wanted = {(table, key): fields for table, key, fields in rows(fragments)}
    for (table, port), fields in wanted.items():
        have = running.get(table, {}).get(port)
        if table != "PFC_WD" or port == "GLOBAL" or have is None:
            continue
        mask = running.get("PORT_QOS_MAP", {}).get(port, {}).get("pfcwd_sw_enable", "")
        if wanted.get(("PORT_QOS_MAP", port), {}).get("pfcwd_sw_enable", mask) != mask or any(have.get(f) != v for f, v in fields.items()):
            print(port)
    return []


# What the buffer manager of the traditional model names a profile by.
MADE = "pg_lossless_"


def misfits(running, fragments):
    for table, port, fields in rows(fragments):
        if table != "PORT_QOS_MAP" or not fields.get("pfc_enable"):
            continue
        speed = running.get("PORT", {}).get(port, {}).get("speed")
        cable = next((lengths[port] for lengths in running.get("CABLE_LENGTH", {}).values() if port in lengths), None)
        for key, row in running.get("BUFFER_PG", {}).items():
            profile = row.get("profile", "")
            if span(key)[0] == port and profile.startswith(MADE) and speed and cable and profile != f"{MADE}{speed}_{cable}_profile":
                yield port, key, profile


def groups(running, fragments):
    for table, port, fields in rows(fragments):
        if table != "PORT_QOS_MAP" or not fields.get("pfc_enable"):
            continue
        if running.get("PORT", {}).get(port, {}).get("admin_status") != "up":
            continue
        lossless = set()
        for key, row in running.get("BUFFER_PG", {}).items():
            owner, indexes = span(key)
            if owner == port and "lossless" in row.get("profile", ""):
                lossless.update(indexes)
        for priority in fields["pfc_enable"].split(","):
            if int(priority) not in lossless:
                yield f"{port} has PFC on priority {priority} and no lossless group: pg_profile_lookup.ini has no row for its speed and cable"
    for port, key, profile in misfits(running, fragments):
        yield f"BUFFER_PG|{key} has {profile}, which is not for the speed and cable of {port}: pg_profile_lookup.ini has no row for them"


# The buffer manager hears neither that PFC goes with its field nor, before 202511, of another cable. It makes groups
# anew whenever the row of a port is written [sonic-swss cfgmgr/buffermgr.cpp; sonic-swss#4004].
def settle(running, fragments):
    gone = set()
    for table, key, _ in forbidden(running, fragments[0], fragments[1:]):
        # a key that names no group is nobody's
        if table == "BUFFER_PG" and span(key)[1] and running[table][key].get("profile", "").startswith(MADE):
            gone.add(key)
            send("DEL", f"{table}|{key}")
    for port, key, _ in misfits(running, fragments[1:]):
        if key not in gone:
            send("HSET", f"PORT|{port}", "speed", running["PORT"][port]["speed"])
    return []


def splits(running, fragments):
    for table, port, fields in rows(fragments):
        if table != "BREAKOUT_CFG":
            continue
        have = running.get(table, {}).get(port, {}).get("brkout_mode")
        if have is None:
            yield f"{table}|{port} is missing: config interface breakout needs an image with platform.json for this SKU"
        elif have != fields["brkout_mode"]:
            print(port, fields["brkout_mode"], sep="\t")


# What config load writes of these tables the config updater refuses to take away on some SKUs and branches.
REFUSED = ("QUEUE", "WRED_PROFILE", "PFC_WD", "BUFFER_POOL", "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE")


def back(before, fragments):
    now, undone = fragments[0], []
    # What names other rows stands behind them in a fragment, and goes first.
    for table, key, fields in reversed(list(rows(fragments[1:]))):
        have, watch = before.get(table, {}).get(key), table == "PFC_WD" and key != "GLOBAL"
        if table not in REFUSED or have == now.get(table, {}).get(key) and (have is None or not watch):
            continue
        if have is None or watch:
            undone.append(["DEL", f"{table}|{key}"])
        if have is not None and watch:
            # a watchdog takes its action and its priorities when it starts
            undone += [["HSET", f"{table}|{key}", field, value] for field, value in have.items()]
        elif have is not None:
            undone += [["HSET", f"{table}|{key}", field, have[field]] if field in have else ["HDEL", f"{table}|{key}", field]
                       for field in fields]
    for step in undone + made(before, now):
        if any(not isinstance(word, str) or not word or not word.isprintable() for word in step):
            yield f"{step[1]} cannot be put back: {step[1:]!r}"
            continue
        send(*step)


# The groups and profiles that the buffer manager of the traditional model made since. Before 202511 the config updater
# refuses to take a profile away; groups it takes away, and when it opens their ports they are made anew.
def made(before, now):
    if now.get("DEVICE_METADATA", {}).get("localhost", {}).get("buffer_model") == "dynamic":
        return []
    steps, named = [], set()
    for key, row in now.get("BUFFER_PG", {}).items():
        have = before.get("BUFFER_PG", {}).get(key)
        if not row.get("profile", "").startswith(MADE) or row == have:
            named.add(row.get("profile"))
        elif have is None:
            steps.append(["DEL", f"BUFFER_PG|{key}"])
        else:
            steps.append(["HSET", f"BUFFER_PG|{key}", "profile", have["profile"]])
    return steps + [["DEL", f"BUFFER_PROFILE|{name}"] for name in now.get("BUFFER_PROFILE", {})
                    if name.startswith(MADE) and name not in before.get("BUFFER_PROFILE", {}) and name not in named]


def send(*step):
    print(*step, sep="\x1f")


def main():
    checks = {"back": back, "missing": missing, "overlap": overlap, "absent": absent, "moves": moves, "restarts": restarts, "groups": groups,
              "settle": settle, "splits": splits}
    if len(sys.argv) < 4 or sys.argv[1] not in checks:
        sys.exit(__doc__)
    found = list(checks[sys.argv[1]](load(sys.argv[2]), [load(name) for name in sys.argv[3:]]))
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(1 if found else 0)


main()
