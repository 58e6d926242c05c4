package windows
import ("testing";"testing/synctest";"github.com/rocec/rocec/deploy/lab";"github.com/rocec/rocec/targets")
func TestDbg(t *testing.T){ synctest.Test(t, func(t *testing.T){ f:=&lab.Faults{}
 r:=newRig(t,&Target,s2d(),lab.Environment{Faults:f}); r.m.Watch(func(s string){t.Log(s)}); r.want(targets.VerbBegin,0); f.Inject(lab.Fault{Kind:lab.FaultRefuse,Nth:4}); t.Log(r.verb(t.Context(),targets.VerbChange)); t.Log(r.status()); 
 b,_:=r.m.Disk().ReadDir("/C:/ProgramData/rocec/live"); for _,e:=range b {t.Log(e.Name())} }) }
