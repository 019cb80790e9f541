/** The page of the live view: one document without anything from elsewhere. What it shows is written as text, never as markup. */
import { createHash } from 'node:crypto';

const script = `
const $ = (id) => document.getElementById(id);
const field = $('token');
field.value = sessionStorage.getItem('live') ?? '';
const ask = (path, options = {}) =>
  fetch(path, { ...options, headers: { authorization: 'Bearer ' + field.value } });
const cell = (row, text) => { const td = row.insertCell(); td.textContent = text; return td; };
const seconds = (ms) => ms === undefined ? '' : (ms / 1000).toFixed(1) + ' s';
function table(id, rows, fill) {
  const body = $(id); body.replaceChildren();
  for (const one of rows) fill(body.insertRow(), one);
}
async function look() {
  if (field.value === '') return;
  let answer;
  try { answer = await ask('/live/state'); } catch { $('head').textContent = 'The service does not answer.'; return; }
  if (answer.status === 401) { $('head').textContent = 'The token is not the right one.'; return; }
  const state = await answer.json();
  sessionStorage.setItem('live', field.value);
  $('head').textContent = state.agent + ': ' + (state.ready ? 'ready' : 'not ready, ' + state.reason) + ', ' +
    state.sessions + ' of ' + state.maxSessions + ' calls';
  table('calls', state.calls, (row, call) => {
    cell(row, call.call); cell(row, seconds(call.ageMs)); cell(row, call.isOwed ? call.speaker + ', answer owed' : call.speaker);
    cell(row, call.turns); cell(row, call.lastResponseMs === undefined ? '' : call.lastResponseMs + ' ms');
    cell(row, call.interruptions); cell(row, call.runningTools);
    cell(row, call.faults.stt + ' / ' + call.faults.llm + ' / ' + call.faults.tts); cell(row, call.worker);
    const end = document.createElement('button');
    end.textContent = 'End';
    end.onclick = () => { if (confirm('End this call?')) ask('/live/calls/' + encodeURIComponent(call.call) + '/end', { method: 'POST' }); };
    row.insertCell().append(end);
  });
  table('workers', state.workers, (row, one) => {
    cell(row, one.worker); cell(row, one.calls); cell(row, one.latenessMs.toFixed(1) + ' ms'); cell(row, one.silentMs + ' ms');
  });
  table('providers', state.providers, (row, one) => {
    cell(row, one.stage); cell(row, one.provider); cell(row, one.role); cell(row, one.breaker.replace('_', ' '));
  });
}
field.onchange = look;
look();
setInterval(look, 1000);
`;

const style = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: #1b1f24; background: #fff; }
table { border-collapse: collapse; margin: 0 0 2rem; }
th, td { text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid #8884; font-variant-numeric: tabular-nums; }
@media (prefers-color-scheme: dark) { body { color: #e6e6e6; background: #15181c; } }
`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export const livePagePolicy = `default-src 'none'; connect-src 'self'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const heads = (names: readonly string[]): string =>
  `<thead><tr>${names.map((name) => `<th scope="col">${name}</th>`).join('')}</tr></thead>`;

export const livePage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Live calls</title>
<style>${style}</style>
<h1>Live calls</h1>
<p><label>Token <input id="token" type="password" autocomplete="off"></label></p>
<p id="head" role="status">The token is the one in SVC_LIVE_TOKEN.</p>
<table>${heads(['Call', 'Age', 'Speaks', 'Turns', 'Last answer', 'Interruptions', 'Tools', 'Faults STT / LLM / TTS', 'Worker', ''])}<tbody id="calls"></tbody></table>
<h2>Workers</h2>
<table>${heads(['Worker', 'Calls', 'Worst lateness', 'Last sign of life'])}<tbody id="workers"></tbody></table>
<h2>Providers</h2>
<table>${heads(['Stage', 'Provider', 'Role', 'Breaker'])}<tbody id="providers"></tbody></table>
<script>${script}</script>
</html>
`;
