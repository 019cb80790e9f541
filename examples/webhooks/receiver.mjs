/** A receiver of webhooks: it verifies each event and takes it once. Bodies are bounded by the proxy in front of it: 64 kB are enough. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.CALLS_WEBHOOK_SECRET ?? '');
const seen = new Set();

const server = createServer(async (request, response) => {
  const body = await text(request).catch(() => '');
  try {
    const { type, data } = webhook.verify(body, request.headers);
    const isNew = !seen.has(request.headers['webhook-id']);
    if (isNew) console.log(type, data.call_id, data.end?.code ?? '');
    seen.add(request.headers['webhook-id']);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
});

server.listen(Number(process.env.PORT ?? 8791), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
