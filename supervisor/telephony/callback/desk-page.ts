/** The page of the desk that takes warm transfers: who waits, what it is about, and two buttons. Its contents are written as text, never as markup. */
import { createHash } from 'node:crypto';

const script = `
const $ = (id) => document.getElementById(id);
const field = $('secret');
field.value = sessionStorage.getItem('desk') ?? '';
const words = {
  parking: 'is being put on hold', ringing: 'is being called', rung: 'rings', answered: 'somebody has answered',
  joining: 'is being joined', meeting: 'hears the summary', leaving: 'is being ended: the caller has hung up', hanging_up: 'is being ended', returning: 'goes back to the agent',
  parked: 'waits on hold: bring the caller back', unsure: 'nobody knows: bring the caller back',
};
const ask = (path, method = 'GET') => fetch(path, { method, headers: { authorization: 'Bearer ' + field.value } });
function button(text, path, enabled) {
  const made = document.createElement('button');
  made.textContent = text; made.disabled = !enabled;
  made.onclick = async () => {
    made.disabled = true;
    const answer = await ask(path, 'POST');
    tell(answer.ok ? '' : (await answer.json()).message);
    look();
  };
  return made;
}
let shown = '', toldAt = 0;
function tell(text) { $('told').textContent = text; toldAt = Date.now(); }
// The calls are shown again when all is well, the same as before or not.
function trouble(text) { shown = ''; $('head').textContent = text; document.title = 'Transfer desk'; }
async function look() {
  if (Date.now() - toldAt > 8000) tell('');
  if (field.value === '') return;
  let answer;
  try { answer = await ask('/transfers'); } catch { trouble('The service does not answer.'); return; }
  if (!answer.ok) { trouble('The secret is not the right one.'); $('transfers').replaceChildren(); return; }
  sessionStorage.setItem('desk', field.value);
  const text = await answer.text();
  if (text === shown) return;
  shown = text;
  const { transfers } = JSON.parse(text);
  $('head').textContent = transfers.length === 0 ? 'Nobody waits.' : transfers.length === 1 ? 'One caller waits.' : transfers.length + ' callers wait.';
  document.title = (transfers.length === 0 ? '' : '(' + transfers.length + ') ') + 'Transfer desk';
  const body = $('transfers');
  body.replaceChildren();
  for (const one of transfers) {
    const row = body.insertRow();
    row.insertCell().textContent = one.summary || 'No summary.';
    row.insertCell().textContent = (one.destination ? one.destination + ': ' : '') + (words[one.phase] ?? one.phase);
    const path = '/transfers/' + encodeURIComponent(one.handle);
    row.insertCell().append(
      button('Accept', path + '/complete_warm', one.phase === 'answered'), ' ',
      button('Decline', path + '/abort_warm', ['rung', 'answered', 'parked', 'unsure'].includes(one.phase)));
  }
}
field.onchange = look;
look();
setInterval(look, 1000);
`;

const style = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem; color: #1b1f24; background: #fff; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: .4rem 1.2rem .4rem 0; border-bottom: 1px solid #8884; vertical-align: top; }
td:first-child { max-width: 40rem; }
button { font: inherit; padding: .3rem 1rem; }
@media (max-width: 30rem) { body { margin: 1rem; } th, td { padding-right: .5rem; } button { padding: .3rem .5rem; } }
@media (prefers-color-scheme: dark) { body { color: #e6e6e6; background: #15181c; } }
`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export const deskPolicy = `default-src 'none'; connect-src 'self'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export const deskPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Transfer desk</title>
<style>${style}</style>
<main>
<h1>Transfer desk</h1>
<p><label>Secret <input id="secret" type="password" autocomplete="off"></label></p>
<p id="head" role="status">The secret is the one in SVC_CALLBACK_SECRET.</p>
<p id="told" role="alert"></p>
<table><thead><tr><th scope="col">About</th><th scope="col">Destination</th><th scope="col">Caller</th></tr></thead><tbody id="transfers"></tbody></table>
</main>
<script>${script}</script>
</html>
`;
