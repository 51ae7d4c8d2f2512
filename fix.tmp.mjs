import { API } from 'typescript/unstable/sync';
import { SyntaxKind } from 'typescript/unstable/ast';
import { readFileSync, writeFileSync } from 'node:fs';
import { relative, dirname } from 'node:path';
const api = new API({ cwd: process.cwd() });
const snap = api.updateSnapshot({ openProjects: [process.cwd()+'/tsconfig.json'] });
const project = snap.getProjects()[0];
const prog = project.program, c = project.checker;
const names = prog.getSourceFileNames().filter(f=>f.includes('/src/')&&!f.includes('node_modules')&&!f.endsWith('base/names.ts'));
let count=0;
for (const name of names) {
  const f = prog.getSourceFile(name); let text = f.text;
  const acc=[];
  const visit = n => { if (n.kind===SyntaxKind.ElementAccessExpression) acc.push(n); n.forEachChild(visit); };
  visit(f);
  if (!acc.length) continue;
  const ks = c.getTypeAtLocation(acc.map(n=>n.argumentExpression));
  const os = c.getTypeAtLocation(acc.map(n=>n.expression));
  const edits=[];
  acc.forEach((n,i)=>{
    const ksn = c.typeToString(ks[i]);
    if (!/\bstring\b/.test(ksn) || n.argumentExpression.kind===SyntaxKind.StringLiteral) return;
    const p=n.parent;
    const w = p.kind===SyntaxKind.BinaryExpression && p.left===n && p.operatorToken.kind>=SyntaxKind.FirstAssignment && p.operatorToken.kind<=SyntaxKind.LastAssignment || p.kind===SyntaxKind.DeleteExpression;
    const ot=c.typeToString(os[i]);
    const skip = w || p.kind===SyntaxKind.CallExpression && p.expression===n || !/Record|VirtualColumns|JsonObject|\{/.test(ot);
    const line = text.slice(0,n.getStart()).split('\n').length;
    if (skip) { console.log('MANUAL '+name.replace(/.*\/src\//,'')+':'+line+' '+n.getText().replace(/\s+/g,' ')+' :: '+ot.slice(0,60)); return; }
    let obj=n.expression.getText();
    let chain = n.questionDotToken;
    edits.push([n.getStart(), n.getEnd(), `own(${obj}, ${n.argumentExpression.getText()})`]);
  });
  // drop outer edits that contain inner ones
  const inner = edits.filter(e=>!edits.some(o=>o!==e&&o[0]>=e[0]&&o[1]<=e[1]));
  inner.sort((a,b)=>b[0]-a[0]);
  for (const [s,e,r] of inner) { text=text.slice(0,s)+r+text.slice(e); count++; }
  if (inner.length) {
    if (!/import \{[^}]*\bown\b[^}]*\} from '[^']*base\/names\.js'/.test(text)) {
      let rel = relative(dirname(name), process.cwd()+'/src/base/names.js'); if(!rel.startsWith('.')) rel='./'+rel;
      const m = text.match(/^import /m);
      const at = m ? m.index : 0;
      text = text.slice(0,at)+`import { own } from '${rel}';\n`+text.slice(at);
    }
    writeFileSync(name,text);
  }
}
console.log('edits',count); api.close();
