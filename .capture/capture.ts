import { mkdtempSync, readdirSync, readFileSync, writeFileSync, rmSync, mkdirSync } from "node:fs";
import { join, dirname } from "node:path";
import { tmpdir } from "node:os";
import { Exchange } from "../src/engine/exchange.ts";
import { SessionLog } from "../src/engine/session-log.ts";
import { runSteps } from "../src/core/steps.ts";
import { VenueOpener } from "../src/scenario/venue/open-venue.ts";
import { RecordingError, recordedFile, shrinkScenario, writeFailure, History, openEmpty, findsCanary, overHttp, inProcess } from "./doors.ts";

const out = process.argv[2]; rmSync(out,{recursive:true,force:true}); mkdirSync(out,{recursive:true});
const put=(name:string,v:unknown)=>writeFileSync(join(out,name),typeof v==="string"?v:JSON.stringify(v,null,1));
const t0=performance.now();
class Fak extends Exchange { override submit(c:any){ return super.submit(c.kind==="placeOrder"&&c.orderType==="FAK"?{...c,orderType:"GTC"}:c);} }
class Thrower extends Exchange { override submit(c:any){ if(c.kind==="cancelAllOrders"&&this.state.orders.size>20) throw new Error("cannot cancel 12"); return super.submit(c);} }
class Refuser extends Exchange { override submit(c:any){ const d:any=c; return super.submit(d.kind==="placeOrder"&&d.side==="SELL"&&this.state.orders.size%7===3?{...d,size:d.size*100}:d);} }
class Leak extends Exchange { override submit(c:any){ const d=super.submit(c); if(this.state.orders.size%11===9){ const a:any=this.state.accounts.get(1); a.collateral.balance+=1;} return d;} }
class Fund extends Exchange { override submit(c:any){ return super.submit(c.kind==="fundAccount"&&this.state.orders.size>10?{...c,collateral:c.collateral+1}:c);} }
for (const [name,K] of Object.entries({Fak,Leak,Refuser,Fund})) for(let seed=0;seed<20;seed++){
  const f=mkdtempSync(join(tmpdir(),"cap-"));
  try{ const r=await writeFailure(seed,120,f,"x",(c:any,s:any,j:any)=>new (K as any)(c,s,j));
    put(`fail-${name}-${seed}.txt`, `${r.remark}\n${r.scenario?readFileSync(r.scenario,"utf8"):""}`);
  }catch(e){put(`fail-${name}-${seed}.txt`,`ERR ${(e as Error).message}`);} finally{rmSync(f,{recursive:true,force:true});}
}
console.log("failures",performance.now()-t0);
for(let seed=0;seed<120;seed++){
  const h=await History.open(seed); const failure=await h.run(120);
  const rec:any=h.host.record; if(!(rec instanceof SessionLog)){put(`rec-${seed}.txt`,"disk");continue;}
  const before=openEmpty(h.profile.config,h.start,(c:any,s:any,j:any)=>new Exchange(c,s,j));
  const session={open:()=>openEmpty(h.profile.config,h.start,(c:any,s:any,j:any)=>new Exchange(c,s,j)),entries:rec.entries,refused:rec.refused,devAccounts:[],name:null};
  try{ const r:any=runSteps(recordedFile(session)); put(`rec-${seed}.txt`,JSON.stringify(failure)+r.scenario+r.orders+" "+r.trades);}catch(e){ if(!(e instanceof RecordingError)) throw e; put(`rec-${seed}.txt`,"ERR "+(e as Error).message);}
  // outcome texts
  put(`out-${seed}.txt`, await inProcess.run(seed,{commands:60}));
}
console.log("recorded",performance.now()-t0);
const files=(d:string):string[]=>readdirSync(d,{withFileTypes:true}).flatMap(e=>e.isDirectory()?files(join(d,e.name)):e.name.endsWith(".yaml")?[join(d,e.name)]:[]);
const opener=new VenueOpener();
let n=0;
for(const f of files("scenarios").concat(files("fixtures").filter(x=>/scenario/.test(x))).sort()){
  const text=readFileSync(f,"utf8");
  // mutate: each of several numbers in the text
  const spots=[...text.matchAll(/\d+(?=[ ,}\]\n/])/g)].map(m=>m.index!);
  const pick=[spots.at(-1),spots.at(-3),spots[Math.floor(spots.length/2)],spots[2]].filter(x=>x!==undefined) as number[];
  for(const [i,at] of pick.entries()){
    n++; if(n%3) continue;
    const m=/^\d+/.exec(text.slice(at))![0];
    const changed=text.slice(0,at)+String(Number(m)+7)+text.slice(at+m.length);
    let r; try{ r=await shrinkScenario(changed,{file:f,folder:dirname(f),open:(s:any)=>opener.local(s)}); }catch(e){r={error:(e as Error).message.split("\n")[0]};}
    if(r===null) continue;
    put(`scn-${f.replaceAll("/","_")}-${i}.json`,JSON.parse(JSON.stringify(r).replaceAll(process.cwd(),"")));
    if(r&&"text" in r) put(`scn-${f.replaceAll("/","_")}-${i}.yaml`,r.text);
  }
}
console.log("scenarios",n,performance.now()-t0);
