/** A server with a content generation interface: checks what a strict service checks, and streams the script. */
import { FakeHttpServer, reply } from './fake-http.ts';
import type { FakeReply } from './fake-http.ts';
import { eventStream } from './fake-responses.ts';

export const chunk = (body: unknown): string => `data: ${JSON.stringify(body)}\r\n\r\n`;

export function parts(list: readonly object[], finishReason?: string): string {
  const candidate = {
    content: { role: 'model', parts: list },
    index: 0,
    ...(finishReason && { finishReason }),
  };
  const usageMetadata = {
    promptTokenCount: 310,
    cachedContentTokenCount: 256,
    ...(finishReason && { candidatesTokenCount: 20, thoughtsTokenCount: 4 }),
    totalTokenCount: 334,
  };
  return chunk({ candidates: [candidate], usageMetadata, modelVersion: 'm', responseId: 'r1' });
}

export const call = (name: string, args: object, more: object = {}): object => {
  const { signature, ...rest } = more as { signature?: string };
  return { functionCall: { name, args, ...rest }, ...(signature && { thoughtSignature: signature }) };
};

export const answer = (text: string): FakeReply => {
  const words = text.match(/\S+\s*/g) ?? [];
  return eventStream([...words.map((word) => parts([{ text: word }])), parts([{ text: '' }], 'STOP')]);
};

interface Content {
  readonly role: string;
  readonly parts: readonly Record<string, unknown>[];
}

/** What the service refuses about a request, if anything. */
export function problemOf(body: Record<string, unknown>): string | undefined {
  const contents = (body['contents'] as Content[] | undefined) ?? [];
  if (contents[0]?.role !== 'user') return 'contents: the first must be user';
  if (contents.at(-1)?.role !== 'user') return 'contents: the last must be user';
  const said = contents.findLastIndex((found) => found.parts.some((part) => part['text'] !== undefined));
  for (const [at, content] of contents.entries()) {
    const calls = content.parts.filter((part) => part['functionCall'] !== undefined);
    const next = contents[at + 1]?.parts.filter((part) => part['functionResponse'] !== undefined) ?? [];
    if (calls.length !== next.length && calls.length > 0) return 'number of function responses';
    if (calls.length > 0 && at > said && calls[0]?.['thoughtSignature'] === undefined)
      return 'Function call is missing a thought_signature';
    if (content.role === contents[at + 1]?.role) return 'roles alternate';
    if (content.parts.some((part) => part['text'] === '')) return 'empty text';
  }
  return undefined;
}

export const refusal = (status: number, name: string, details: readonly object[] = []): FakeReply =>
  reply({
    status,
    headers: { 'content-type': 'application/json' },
    chunks: [JSON.stringify({ error: { code: status, message: 'No.', status: name, details } })],
  });

export class FakeGenerate extends FakeHttpServer {
  constructor() {
    super((request) => {
      const problem = problemOf(request.body);
      (problem === undefined ? answer('All right.') : refusal(400, 'INVALID_ARGUMENT'))(request);
    });
  }

  /** Address without a path. */
  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }
}
