// @ts-check
/** The server of tones that the example asks: `node server.mjs [port]`. */
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const toneMs = 60;

/** PCM16 of one letter: its place in the alphabet is its pitch. */
function tone(/** @type {string} */ letter, /** @type {number} */ rate, /** @type {number} */ lowestHz) {
  const hz = lowestHz * 2 ** (((letter.codePointAt(0) ?? 0) % 24) / 12);
  const samples = Buffer.alloc(((rate * toneMs) / 1_000) * 2);
  for (let at = 0; at < samples.length; at += 2) {
    samples.writeInt16LE(Math.round(8_000 * Math.sin((Math.PI * hz * at) / rate)), at);
  }
  return samples;
}

export const toneServer = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname !== '/tones') {
    response.writeHead(404).end();
    return;
  }
  const [rate, lowestHz] = [Number(searchParams.get('rate')), Number(searchParams.get('lowest_hz'))];
  response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
  for (const letter of (searchParams.get('text') ?? '').replaceAll(/\s/g, '')) {
    response.write(tone(letter, rate, lowestHz));
  }
  response.end();
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  toneServer.listen(Number(process.argv[2] ?? 9_090), '127.0.0.1');
}
