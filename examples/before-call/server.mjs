/**
 * A server that is asked before each call: it knows some customers by their numbers. Needs nothing but Node.js.
 *
 *     BEFORE_CALL_SECRET=whsec_... node examples/before-call/server.mjs
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

/** What the operator knows, by number. */
export const customers = {
  '+15550100001': { name: 'Ada', plan: 'gold', language: 'en' },
  '+15550100002': { name: 'Berta', plan: 'basic', language: 'de' },
};

const mostBytes = 65_536;
const mostAgeS = 300;

/** Whether the request was made by the service: its signature is by Standard Webhooks. */
export function isSigned(headers, body, secret) {
  const [id, at] = [headers['webhook-id'], headers['webhook-timestamp']];
  const isFresh = Math.abs(Date.now() / 1000 - Number(at)) <= mostAgeS;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const wanted = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest();
  const signatures = String(headers['webhook-signature'] ?? '').split(' ');
  return isFresh && signatures.some((one) => isSame(one, wanted));
}

function isSame(signature, wanted) {
  const found = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
  return signature.startsWith('v1,') && found.length === wanted.length && timingSafeEqual(found, wanted);
}

/** What the service is told of a call. */
export function answerTo({ data }) {
  const customer = Object.hasOwn(customers, data.from ?? '') ? customers[data.from] : undefined;
  if (customer === undefined) return {};
  const { name, plan, language } = customer;
  return {
    variables: { name, plan },
    ...(language === 'de' && {
      overrides: { 'agent.language': 'de', 'agent.greeting': `Guten Tag, ${name}. Was kann ich tun?` },
    }),
  };
}

export function newServer(secret) {
  return createServer((request, response) => {
    const parts = [];
    let bytes = 0;
    request.on('data', (part) => {
      bytes += part.length;
      if (bytes > mostBytes) request.destroy();
      else parts.push(part);
    });
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      if (request.method !== 'POST' || !isSigned(request.headers, body, secret)) {
        response.writeHead(401).end();
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answerTo(JSON.parse(body))));
    });
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const secret = process.env.BEFORE_CALL_SECRET ?? '';
  if (!secret.startsWith('whsec_')) throw new Error('BEFORE_CALL_SECRET must be whsec_ and base64');
  newServer(secret).listen(8790, '127.0.0.1', () => console.log('listening on http://127.0.0.1:8790'));
}
