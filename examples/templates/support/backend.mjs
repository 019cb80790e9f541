// A stand-in for the backend of a shop. `npm run backend` runs it; put your own in its place.
import { createServer } from 'node:http';

const orders = new Map([
  ['427', 'on its way, it arrives tomorrow'],
  ['123456', 'being packed'],
]);
createServer(async (request, response) => {
  const answer = (status, body) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  const [, kind, id] = request.url.split('/');
  if (request.method === 'GET' && kind === 'orders')
    return answer(200, { status: orders.get(id) ?? 'there is no order of this number' });
  if (request.method !== 'POST' || kind !== 'callbacks') return answer(404, { error: 'no such thing' });
  const { reason } = await new Response(request).json();
  console.log(`call back: ${reason}`);
  answer(200, { status: 'noted' });
}).listen(Number(process.env.PORT ?? 8099), '127.0.0.1', function () {
  console.log(`http://127.0.0.1:${this.address().port}`);
});
