// A stand-in for a booking system: remembers tables until it ends. `npm run backend` runs it; put your own in its place.
import { createServer } from 'node:http';

const tables = [];
createServer(async (request, response) => {
  const answer = (status, body) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  if (request.method !== 'POST' || request.url !== '/tables') return answer(404, { error: 'no such thing' });
  const { people, day, time } = await new Response(request).json();
  if (tables.filter((table) => table.day === day && table.time === time).length >= 3)
    return answer(409, { error: 'all tables are taken at that time' });
  tables.push({ people, day, time });
  console.log(`booked: ${people} people, ${day} at ${time}`);
  answer(200, { status: 'booked' });
}).listen(Number(process.env.PORT ?? 8099), '127.0.0.1', function () {
  console.log(`http://127.0.0.1:${this.address().port}`);
});
