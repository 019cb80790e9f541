/** A receptionist for a restaurant: books tables in a book of its own, and puts callers through to people. */
import { Agent, CommandRefused, ToolError, type Session } from '@voice-agent-service/agent';
import { z } from 'zod';

const tablesPerHour = 3;
/** Where a person answers. An agent is trusted like the operator: this number is dialled as it stands here. */
const person = process.env['RECEPTION_NUMBER'] ?? '+15550100100';

interface Booking {
  readonly people: number;
  readonly slot: string;
}

/** By idempotency key: the same tool call again finds its booking instead of making another one. */
const bookings = new Map<string, Booking>();

const isFull = (slot: string): boolean =>
  [...bookings.values()].filter((booking) => booking.slot === slot).length >= tablesPerHour;

export const agent = new Agent({
  name: 'receptionist',
  systemPrompt: `You answer the phone of the restaurant Blue Door. You book tables: ask for the number of people, the day and the time,
then call book_table. Answer in one or two short sentences.`,
  greeting: 'Blue Door, good evening. Would you like to book a table?',
});

agent.tool(
  {
    name: 'book_table',
    description: 'Books a table once people, day and time are known.',
    parameters: z.object({
      people: z.number().int().min(1).max(12),
      day: z.string().describe('such as today, tomorrow or friday'),
      time: z
        .string()
        .regex(/^\d{2}:\d{2}$/)
        .describe('24 hours, such as 19:30'),
    }),
    kind: 'side_effect',
  },
  ({ people, day, time }, { idempotencyKey }) => {
    const slot = `${day} ${time.slice(0, 2)}`;
    if (bookings.has(idempotencyKey)) return `The table for ${people} is booked already.`;
    if (isFull(slot)) throw new ToolError('all tables are taken at that hour');
    bookings.set(idempotencyKey, { people, slot });
    return `Your table for ${people}, ${day} at ${time}, is booked. We look forward to seeing you.`;
  },
);

/** The words of the caller and the agent, as the caller heard them: an answer that was cut ends where it was cut. */
const linesOf = (session: Session): string[] => (session.data['lines'] ??= []) as string[];

agent.on('bot.heard', ({ text, complete }, session) => {
  linesOf(session).push(`Blue Door: ${text}${complete ? '' : ' -'}`);
});

agent.on('session.end', (_, session) => {
  console.log(['a call has ended', ...linesOf(session)].join('\n  '));
});

agent.onUserText(async (text, session) => {
  linesOf(session).push(`Caller: ${text}`);
  if (!/\b(a|human|real) person\b|\bspeak to\b/i.test(text)) return;
  try {
    await session.transfer(person, { reason: 'asked for a person' });
  } catch (error) {
    if (!(error instanceof CommandRefused)) throw error;
    await session.say('I am sorry, nobody is free just now. I can book a table for you.', {
      interrupt: true,
    });
  }
});

await agent.listen();
