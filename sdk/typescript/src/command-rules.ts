/** What the service refuses of a command, said before it is sent. Pure; a test compares it with the service's own schemas. */
import type { AgentMessage } from './wire/agent-messages.ts';
import { limits } from './wire/constants.ts';

type CommandType = 'say' | 'end' | 'transfer' | 'context.update' | 'tools.set' | 'client.send';
export type Command = Extract<AgentMessage, { readonly type: CommandType }>;

const isLarge = (text: string | undefined, mostBytes: number): boolean =>
  text !== undefined && Buffer.byteLength(text) > mostBytes;

const isBlank = (text: string): boolean => text.trim() === '';

/** The first of these fields that is too large. */
const largeText = (
  texts: readonly (readonly [name: string, text: string | undefined, mostBytes: number])[],
): string | undefined => {
  const found = texts.find(([, text, most]) => isLarge(text, most));
  return found && `${found[0]}: must be at most ${found[2]} bytes`;
};

/** The rule that a command breaks, with its field; never what was given (docs/reference/agent-link.md, Agent to service and Limits). */
export function brokenRule(command: Command): string | undefined {
  if (isLarge(command.id, limits.commandIdBytes)) return `id: must be at most ${limits.commandIdBytes} bytes`;
  switch (command.type) {
    case 'say':
      if (isBlank(command.text)) return 'text: must not be empty';
      return largeText([['text', command.text, limits.sayBytes]]);
    case 'end':
      return largeText([
        ['say', command.say, limits.sayBytes],
        ['reason', command.reason, limits.reasonBytes],
      ]);
    case 'transfer':
      if (!/^\+[0-9]{8,15}$/.test(command.destination)) return 'destination: must be + and 8 to 15 digits';
      return largeText([
        ['summary', command.summary, limits.reasonBytes],
        ['reason', command.reason, limits.reasonBytes],
      ]);
    case 'context.update': {
      const { append = [] } = command;
      if (append.length > limits.contextMessages)
        return `append: must have at most ${limits.contextMessages} messages`;
      if (append.some(({ text }) => isBlank(text))) return 'append: a text must not be empty';
      return largeText([['systemPrompt', command.system_prompt, limits.systemPromptBytes]]);
    }
    case 'client.send':
      return largeText([
        ['answers', command.answers, limits.clientNameBytes],
        ['name', command.name, limits.clientNameBytes],
      ]);
    case 'tools.set':
      return (command.enabled?.length ?? 0) > limits.enabledTools
        ? `enabled: must have at most ${limits.enabledTools} names`
        : undefined;
  }
}
