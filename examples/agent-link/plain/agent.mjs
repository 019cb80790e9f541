// An agent process without an SDK: greets by name, looks up orders for the LLM, and ends the call when the caller says so.
//   node examples/agent-link/plain/agent.mjs          then start the service beside it:
//   SVC_AGENT_URL=ws://127.0.0.1:8765 npm start
import { WebSocketServer } from 'ws';

const port = Number(process.env.PORT ?? 8765);
const orders = { 427: 'It is on its way and arrives tomorrow.', 428: 'It waits for its paint to dry.' };

const tools = [
  {
    name: 'order_status',
    description: 'Where an order is, by its number',
    parameters: { type: 'object', required: ['number'], properties: { number: { type: 'integer' } } },
  },
];

const server = new WebSocketServer({ port, host: '127.0.0.1', maxPayload: 65_536 });

server.on('connection', (socket) => {
  const send = (message) => socket.send(JSON.stringify(message));
  // A broken connection ends with `close`, and the call goes on without this process.
  socket.on('error', (error) => console.error(error.message));
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString());
    switch (message.type) {
      case 'session.start':
        send({
          type: 'session.accept',
          version: 1,
          greeting: 'Hello, this is the order desk. What is your order number?',
          system_prompt: 'You tell callers where their orders are. One or two short sentences.',
          tools,
          events: ['user.text', 'turn.interrupted'],
        });
        break;
      case 'tool.call': {
        const result = orders[message.arguments.number] ?? 'There is no such order.';
        send({ type: 'tool.result', id: message.id, re: message.seq, result });
        break;
      }
      case 'user.text':
        console.log(`the caller: ${message.text}`);
        if (/\bgoodbye\b/i.test(message.text))
          send({ type: 'end', id: 'bye', say: 'Goodbye!', re: message.seq });
        break;
      default:
        console.log(message.type, message.reason ?? message.message ?? '');
    }
  });
});

server.on('listening', () => console.log(`agent process at ws://127.0.0.1:${port}`));
