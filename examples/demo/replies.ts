/**
 * From the messages of a chat request to the reply: words, and a tool call where a tool for the purpose is offered.
 *
 * Invariant: pure but for the time of day, which is an argument. Without tools the demo answers itself; with a tool's result in the request
 * the answer comes from that result, whatever it is.
 */
import { newDialogue, step, type Decision, type Dialogue } from './dialogue.ts';
import { sayOrder, sayWeather } from './knowledge.ts';
import { sayCity, sayDay, sayTime } from './spoken-values.ts';

export interface Message {
  readonly role: string;
  readonly text: string;
  /** Names of the tools that an assistant message calls. */
  readonly calls: readonly string[];
}

export interface Tool {
  readonly name: string;
  /** Names of its parameters. */
  readonly parameters: readonly string[];
  /** Those of them that take whole numbers. */
  readonly integers?: readonly string[];
  /** Values of those that take one of a list. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
}

export interface Conversation {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /** Local time. */
  readonly now: Date;
}

export interface Reply {
  readonly text: string;
  readonly call?: { readonly name: string; readonly arguments: Readonly<Record<string, string | number>> };
}

/** What each purpose passes to its tool: the value and the parameter names that would take it, the first one by default. */
interface Purpose {
  readonly tool: string;
  readonly values: readonly (readonly [names: readonly string[], value: string | number])[];
}

const hourAndMinute = (hour: number, minute: number): string =>
  `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;

function purposeOf(decision: Decision): Purpose | undefined {
  switch (decision.kind) {
    case 'weather': {
      const city = sayCity(decision.city);
      return {
        tool: 'get_weather',
        values: [
          [['city', 'location', 'place'], city],
          [['day', 'date', 'when'], decision.day],
        ],
      };
    }
    case 'clock':
      return { tool: 'get_time', values: [] };
    case 'book': {
      const { people, day, time } = decision;
      return {
        tool: 'book_table',
        values: [
          [['people', 'guests', 'party_size'], people],
          [['day', 'date'], day],
          [['time'], hourAndMinute(time.hour, time.minute)],
        ],
      };
    }
    case 'order':
      return {
        tool: 'order_status',
        values: [[['order_number', 'order_id', 'order', 'number'], decision.number]],
      };
    case 'menu':
      return { tool: 'menu', values: [] };
    case 'dish':
      return {
        tool: 'change_order',
        values: [
          [['item', 'dish'], decision.item],
          [['count', 'amount'], decision.count],
        ],
      };
    case 'recap':
      return { tool: 'repeat_order', values: [] };
    case 'place':
      return { tool: 'place_order', values: [[['name'], decision.name]] };
    case 'person':
      return {
        tool: 'transfer_call',
        values: [
          [['destination'], decision.department],
          // A department is dialled; a caller who wants a person is introduced.
          [['mode'], decision.department === '' ? 'warm' : 'cold'],
          [['summary'], 'The caller has asked for a person.'],
        ],
      };
    case 'goodbye':
      return { tool: 'end_call', values: [] };
    case 'say':
    case 'repeat':
      return undefined;
  }
}

/** The demo's own answer to a decision. */
function ownAnswer(decision: Decision, now: Date): string {
  switch (decision.kind) {
    case 'say':
      return decision.text;
    case 'weather':
      return sayWeather(decision.city, decision.day);
    case 'clock':
      return decision.what === 'time'
        ? `It is ${sayTime({ hour: now.getHours(), minute: now.getMinutes() })}.`
        : `Today is ${new Intl.DateTimeFormat('en-US', { dateStyle: 'full' }).format(now)}.`;
    case 'book': {
      const { people, day, time } = decision;
      return `Done. Your table for ${people}, ${sayDay(day)} at ${sayTime(time)}, is booked. It is only a demo, so nobody expects you.`;
    }
    case 'order':
      return sayOrder(decision.number);
    case 'menu':
    case 'dish':
    case 'recap':
    case 'place':
      return 'I take no orders myself. I can look one up by its number.';
    case 'person':
      return 'I am only a demo and cannot connect you to a person. I can help with the time, the weather, a table, or an order.';
    case 'repeat':
      return 'I have not said anything yet. What can I do for you?';
    case 'goodbye':
      return 'Thank you for calling. Goodbye!';
  }
}

const readable = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** A tool's result as a sentence: its own words where it has some, its fields otherwise. */
export function sayResult(content: string): string {
  let result: unknown;
  try {
    result = JSON.parse(content);
  } catch {
    return content.trim() === '' ? 'That is done.' : content.trim();
  }
  if (typeof result !== 'object' || result === null)
    return readable(result) === '' ? 'That is done.' : `${readable(result)}.`;
  // The service tells the model how to go on after a tool that failed.
  if ('error' in result && typeof result.error === 'object' && result.error !== null)
    return 'Sorry, that did not work.';
  const fields = Object.entries(result).map(([name, value]) => [name, readable(value)] as const);
  const failed = fields.find(([name, value]) => name === 'error' && value !== '');
  if (failed !== undefined) return `Sorry, that did not work: ${failed[1]}.`;
  const words = fields.find(([name]) => /^(text|summary|message|answer|say)$/.test(name));
  if (words !== undefined && words[1] !== '') return words[1];
  const known = fields.filter(([, value]) => value !== '').slice(0, 5);
  if (known.length === 0) return 'That is done.';
  return `Here is what I found. ${known.map(([name, value]) => `${name.replace(/_/g, ' ')}: ${value}`).join(', ')}.`;
}

/** The state after all the caller's messages, the last decision, and the last thing said before it. */
function replay({ messages, now }: Conversation): { decision: Decision; lastSaid: string | undefined } {
  let dialogue: Dialogue = newDialogue;
  let decision: Decision = { kind: 'say', text: 'Hello! How can I help?' };
  let lastSaid = messages.find(({ role, text }) => role === 'assistant' && text !== '')?.text;
  let heardUser = false;
  for (const { role, text } of messages) {
    // A sign without words stands in where the caller has said nothing, such as in front of the greeting.
    if (role !== 'user' || /^[^\p{L}\p{N}]+$/u.test(text)) continue;
    if (heardUser && decision.kind !== 'repeat') lastSaid = ownAnswer(decision, now);
    ({ dialogue, decision } = step(dialogue, text));
    heardUser = true;
  }
  return { decision, lastSaid };
}

/** The reply to a conversation. */
export function reply(conversation: Conversation): Reply {
  const { messages, tools, now } = conversation;
  const last = messages.at(-1);
  if (last?.role === 'tool') {
    const called = messages.findLast(({ calls }) => calls.length > 0)?.calls ?? [];
    // Of a caller who has been given away nobody is left to hear it.
    const isLast = called.includes('end_call') || /"status":"initiated"/.test(last.text);
    return { text: isLast ? '' : sayResult(last.text) };
  }
  const { decision, lastSaid } = replay(conversation);
  if (decision.kind === 'repeat') return { text: lastSaid ?? ownAnswer(decision, now) };
  const purpose = purposeOf(decision);
  const tool = tools.find(({ name }) => name === purpose?.tool);
  if (purpose === undefined || tool === undefined) return { text: ownAnswer(decision, now) };
  const given = purpose.values.flatMap(([names, value]) => {
    const name = names.find((candidate) => tool.parameters.includes(candidate));
    if (name === undefined) return [];
    const choices = tool.choices?.[name] ?? [];
    const fits = choices.length === 0 || choices.includes(String(value));
    if (!fits) return [[name, choices[0] ?? ''] as const];
    return [[name, tool.integers?.includes(name) === true ? Number(value) : value] as const];
  });
  const call = { name: tool.name, arguments: Object.fromEntries(given) };
  return { text: lastWords[decision.kind] ?? '', call };
}

/** What is said before a tool is called behind which nothing is said. */
const lastWords: Partial<Record<Decision['kind'], string>> = {
  goodbye: 'Thank you for calling.',
  person: 'One moment, I will connect you.',
};
