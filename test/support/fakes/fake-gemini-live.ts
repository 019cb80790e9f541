/**
 * A Gemini Live server, on a real socket: refuses what the real one refuses, by close codes alone, and answers what the script says or what a
 * test has it say. Its messages are the types of the vendor's own client, and leave in binary frames as well as in text.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type {
  Content,
  FunctionCall,
  FunctionDeclaration,
  FunctionResponse,
  LiveClientMessage,
  LiveClientSetup,
  LiveServerContent,
  LiveServerMessage,
  Schema,
  UsageMetadata,
} from '@google/genai';
import { Type } from '@google/genai';
import { WebSocketServer, type WebSocket } from 'ws';
import { Observed } from '../process/observed.ts';
import { selfSigned } from '../self-signed.ts';

/** A message without the conveniences of the client's class. */
export type Said = Partial<Omit<LiveServerMessage, 'text' | 'data'>>;

export interface ScriptedReply {
  readonly heard?: string;
  readonly speech?: string;
  readonly text?: string;
  readonly calls?: readonly FunctionCall[];
  readonly usage?: UsageMetadata;
  /** Says no more than this, until a test does. */
  readonly holds?: true;
}

/** Sample values of a piece of sound; what it holds is of no matter but its length. */
export const sound = (ms: number, value = 7): string =>
  Buffer.from(new Int16Array(ms * 24).fill(value).buffer).toString('base64');

export const audio = (ms: number, value = 7): LiveServerContent => ({
  modelTurn: {
    role: 'model',
    parts: [{ inlineData: { mimeType: 'audio/pcm;rate=24000', data: sound(ms, value) } }],
  },
});

export const words = (text: string): LiveServerContent => ({ outputTranscription: { text } });

/** What the wire knows; a name that is no longer of the vendor's types does not compile. */
const known = {
  setup: {
    model: true,
    generationConfig: true,
    systemInstruction: true,
    tools: true,
    realtimeInputConfig: true,
    inputAudioTranscription: true,
    outputAudioTranscription: true,
    sessionResumption: true,
    contextWindowCompression: true,
    historyConfig: true,
    proactivity: true,
  } satisfies Partial<Record<keyof LiveClientSetup, true>>,
  message: {
    setup: true,
    clientContent: true,
    realtimeInput: true,
    toolResponse: true,
    contextUpdate: true,
  } satisfies Record<keyof LiveClientMessage, true>,
  function: {
    name: true,
    description: true,
    parameters: true,
    behavior: true,
  } satisfies Partial<Record<keyof FunctionDeclaration, true>>,
  schema: {
    type: true,
    description: true,
    enum: true,
    format: true,
    items: true,
    properties: true,
    required: true,
    nullable: true,
    anyOf: true,
    minimum: true,
    maximum: true,
    minItems: true,
    maxItems: true,
    minLength: true,
    maxLength: true,
    pattern: true,
  } satisfies Partial<Record<keyof Schema, true>>,
  response: { id: true, name: true, response: true, scheduling: true, willContinue: true } satisfies Partial<
    Record<keyof FunctionResponse, true>
  >,
} as const;

const stranger = (object: object, names: object): string | undefined =>
  Object.keys(object).find((key) => !Object.hasOwn(names, key));

/** What the service finds wrong with a schema, if anything. */
export function schemaProblem(schema: Schema): string | undefined {
  const strange = stranger(schema, known.schema);
  if (strange !== undefined) return `unknown name "${strange}"`;
  if (schema.anyOf === undefined && !Object.values(Type).includes(schema.type as Type)) return 'type';
  if (schema.enum?.some((value) => typeof value !== 'string' || value === '') === true) return 'enum';
  if (schema.enum !== undefined && schema.type !== Type.STRING) return 'enum: only allowed for STRING type';
  if (schema.required?.some((name) => schema.properties?.[name] === undefined) === true) return 'required';
  if (schema.type === Type.ARRAY && schema.items === undefined) return 'items: missing field';
  const inner = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.anyOf ?? []),
    ...(schema.items === undefined ? [] : [schema.items]),
  ];
  return inner.map(schemaProblem).find((problem) => problem !== undefined);
}

export class LiveConnection {
  readonly socket: WebSocket;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Messages in order, the setup first, those with sound left out. */
  readonly heard: LiveClientMessage[] = [];
  setup: LiveClientSetup | undefined;
  /** Code of the close, once closed. */
  closed: number | undefined;
  /** Samples of each activity. */
  readonly activities: number[] = [];
  samples: number[] = [];
  isActive = false;
  pings = 0;
  /** Calls whose results the model waits for. */
  readonly waiting = new Map<string, string>();
  hasSpoken = false;
  isSpeaking = false;
  private isBinary = true;
  private readonly server: FakeGeminiLive;

  constructor(server: FakeGeminiLive, socket: WebSocket, request: IncomingMessage) {
    this.server = server;
    this.socket = socket;
    this.path = request.url ?? '';
    this.headers = request.headers;
  }

  /** Says each message in a frame of its own, every other one a binary frame. */
  say(...messages: readonly Said[]): void {
    for (const message of messages) {
      this.note(message);
      const text = JSON.stringify(message);
      this.socket.send(this.isBinary ? Buffer.from(text) : text);
      this.isBinary = !this.isBinary;
    }
  }

  content(...parts: readonly LiveServerContent[]): void {
    this.say(...parts.map((serverContent) => ({ serverContent })));
  }

  end(code: number, reason = ''): void {
    this.socket.close(code, reason);
  }

  /** Kinds of the messages heard: `activityStart`, `clientContent` … */
  get kinds(): string[] {
    return this.heard.flatMap((message) =>
      message.realtimeInput === undefined ? Object.keys(message) : Object.keys(message.realtimeInput),
    );
  }

  get texts(): string[] {
    return this.heard.flatMap(({ realtimeInput }) => realtimeInput?.text ?? []);
  }

  private note({ serverContent, toolCall, toolCallCancellation }: Said): void {
    if (serverContent?.modelTurn !== undefined) this.hasSpoken = this.isSpeaking = true;
    if (serverContent?.interrupted === true || serverContent?.turnComplete === true) this.isSpeaking = false;
    for (const { id, name } of toolCall?.functionCalls ?? [])
      this.waiting.set(id ?? `name:${name}`, name ?? '');
    for (const id of toolCallCancellation?.ids ?? []) this.waiting.delete(id);
  }

  hear(message: LiveClientMessage): void {
    const problem = this.problemOf(message);
    if (message.realtimeInput?.audio === undefined) this.heard.push(message);
    if (problem !== undefined) {
      this.end(problem.code ?? 1007, problem.reason);
      return;
    }
    if (message.setup !== undefined) this.begin(message.setup);
    if (message.realtimeInput !== undefined) this.input(message.realtimeInput);
    if (message.clientContent?.turnComplete === true && !this.isHistory()) this.reply();
    if (message.toolResponse !== undefined) this.take(message.toolResponse.functionResponses ?? []);
  }

  private begin(setup: LiveClientSetup): void {
    this.setup = setup;
    if (!this.server.isSlow)
      this.say({ setupComplete: { sessionId: `session_${this.server.connections.length}` } });
  }

  private isHistory(): boolean {
    return this.setup?.historyConfig?.initialHistoryInClientContent === true && !this.hasSpoken;
  }

  private input(input: NonNullable<LiveClientMessage['realtimeInput']>): void {
    if (input.activityStart !== undefined) {
      this.isActive = true;
      this.samples = [];
      if (this.isSpeaking) this.content({ interrupted: true }, { turnComplete: true });
    }
    if (input.audio?.data !== undefined && this.isActive) {
      const pcm = Buffer.from(input.audio.data, 'base64');
      for (let at = 0; at < pcm.length; at += 2) this.samples.push(pcm.readInt16LE(at));
    }
    const hasEnded = input.activityEnd !== undefined;
    if (hasEnded) {
      this.isActive = false;
      this.activities.push(this.samples.length);
    }
    if (hasEnded || (input.text !== undefined && !this.isActive)) this.reply();
  }

  private take(responses: readonly FunctionResponse[]): void {
    for (const { id, name } of responses) this.waiting.delete(id ?? `name:${name}`);
    if (this.waiting.size === 0) this.reply();
  }

  /** The next reply of the script, where there is one. */
  private reply(): void {
    const reply = this.server.replies.shift();
    if (reply === undefined) return;
    const { heard, speech, text, calls, usage, holds } = reply;
    if (heard !== undefined) this.content({ inputTranscription: { text: ` ${heard}` } });
    if (speech !== undefined) {
      for (const word of speech.split(/(?= )/)) this.content(audio(100), words(word));
    }
    if (text !== undefined) this.content({ modelTurn: { role: 'model', parts: [{ text }] } });
    if (calls !== undefined) this.say({ toolCall: { functionCalls: [...calls] } });
    if (holds === true || calls !== undefined) return;
    this.content({ generationComplete: true });
    this.say({ serverContent: { turnComplete: true }, ...(usage !== undefined && { usageMetadata: usage }) });
  }

  private problemOf(
    message: LiveClientMessage,
  ): { readonly reason: string; readonly code?: number } | undefined {
    const strange = stranger(message, known.message);
    if (strange !== undefined) return { reason: `Unknown name "${strange}"` };
    const { setup, clientContent, realtimeInput, toolResponse } = message;
    if ((setup === undefined) === (this.setup === undefined))
      return { reason: 'setup must be the first message and sent once' };
    if (setup !== undefined) return this.server.setupProblem(setup);
    if (clientContent !== undefined) return this.contentProblem(clientContent.turns ?? []);
    const isManual = this.setup?.realtimeInputConfig?.automaticActivityDetection?.disabled === true;
    if (!isManual && (realtimeInput?.activityStart ?? realtimeInput?.activityEnd) !== undefined)
      return {
        reason: 'Explicit activity control is not supported when automatic activity detection is enabled',
      };
    for (const response of toolResponse?.functionResponses ?? []) {
      if (stranger(response, known.response) !== undefined) return { reason: 'Unknown name' };
      if (!this.waiting.has(response.id ?? `name:${response.name}`))
        return { reason: 'no such call', code: 1008 };
    }
    return undefined;
  }

  private contentProblem(turns: readonly Content[]): { readonly reason: string } | undefined {
    const reason = 'Request contains an invalid argument.';
    if (turns.some(({ role }) => role !== 'user' && role !== 'model')) return { reason };
    if (turns.some(({ parts }) => (parts ?? []).some(({ text }) => (text ?? '') === ''))) return { reason };
    if (!this.server.takesContent && !this.isHistory()) return { reason };
    return undefined;
  }
}

interface FakeGeminiLiveOptions {
  readonly tls?: boolean;
  /** Whether content is taken within a session, as by models before Gemini 3 and by Vertex AI. */
  readonly takesContent?: boolean;
}

export class FakeGeminiLive extends Observed {
  readonly connections: LiveConnection[] = [];
  readonly replies: ScriptedReply[] = [];
  readonly takesContent: boolean;
  /** Handles that sessions can be gone on with. */
  readonly handles = new Set<string>();
  /** Answers upgrades with this status instead of accepting them. */
  refuseWith: number | undefined;
  /** Does not say by itself that a setup is complete. */
  isSlow = false;
  private readonly tls: boolean;
  private readonly http: Server;
  private readonly upgraded: Duplex[] = [];
  private readonly sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });

  constructor({ tls = false, takesContent = false }: FakeGeminiLiveOptions = {}) {
    super();
    this.tls = tls;
    this.takesContent = takesContent;
    this.http = tls ? createTlsServer(selfSigned()) : createServer();
    this.http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.upgraded.push(socket);
      socket.on('error', () => undefined);
      if (this.refuseWith === undefined)
        this.sockets.handleUpgrade(request, socket, head, (peer) => this.accept(peer, request));
      else socket.end(`HTTP/1.1 ${this.refuseWith} Refused\r\nContent-Length: 0\r\n\r\n`);
    });
  }

  get host(): string {
    return `127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  get baseUrl(): string {
    return `${this.tls ? 'wss' : 'ws'}://${this.host}`;
  }

  get last(): LiveConnection {
    const connection = this.connections.at(-1);
    if (connection === undefined) throw new Error('no connection yet');
    return connection;
  }

  start(): Promise<void> {
    return new Promise((resolve) => {
      this.http.listen(0, '127.0.0.1', () => resolve());
    });
  }

  close(): Promise<void> {
    for (const socket of this.upgraded) socket.destroy();
    this.http.closeAllConnections();
    return new Promise((resolve) => this.http.close(() => resolve()));
  }

  /** Resolves when the newest session has heard so many messages, its setup among them. */
  async heard(count: number): Promise<void> {
    await this.until(() => (this.connections.at(-1)?.heard.length ?? 0) >= count);
  }

  setupProblem(setup: LiveClientSetup): { readonly reason: string; readonly code?: number } | undefined {
    const strange = stranger(setup, known.setup);
    if (strange !== undefined) return { reason: `Unknown name "${strange}" at 'setup'` };
    const { model = '', generationConfig, sessionResumption } = setup;
    if (!/^(models\/|projects\/[^/]+\/locations\/[^/]+\/publishers\/google\/models\/)[\w.-]+$/.test(model))
      return { reason: 'model', code: 1008 };
    if (model.includes('retired'))
      return {
        reason: `models/retired is not found for API version v1beta, or is not supported for bidiGenerateContent`,
        code: 1008,
      };
    if (generationConfig?.responseModalities?.length !== 1) return { reason: 'one modality' };
    const declared = ((setup.tools ?? []) as { functionDeclarations?: FunctionDeclaration[] }[]).flatMap(
      ({ functionDeclarations }) => functionDeclarations ?? [],
    );
    for (const one of declared) {
      if (stranger(one, known.function) !== undefined) return { reason: 'Unknown name at tools' };
      if (!/^[A-Za-z_][\w.-]{0,63}$/.test(one.name ?? '')) return { reason: 'Invalid function name' };
      if (one.behavior !== undefined && /gemini-(2|3\.[0-7])/.test(model)) return { reason: 'behavior' };
      const problem = one.parameters === undefined ? undefined : schemaProblem(one.parameters);
      if (problem !== undefined) return { reason: `Invalid JSON payload received at tools: ${problem}` };
      if (Object.keys(one.parameters?.properties ?? { any: 1 }).length === 0)
        return { reason: 'properties: should be non-empty for OBJECT type' };
    }
    const handle = sessionResumption?.handle;
    if (handle === undefined) return undefined;
    if (!this.handles.has(handle)) return { reason: 'Invalid session resumption handle' };
    const isAlive = this.connections.some(
      ({ closed, setup: other }) => closed === undefined && other !== undefined,
    );
    return isAlive ? { reason: 'Internal error encountered.', code: 1011 } : undefined;
  }

  private accept(socket: WebSocket, request: IncomingMessage): void {
    const connection = new LiveConnection(this, socket, request);
    this.connections.push(connection);
    socket.on('error', () => undefined);
    socket.on('ping', () => {
      connection.pings += 1;
      this.changed();
    });
    socket.on('close', (code) => {
      connection.closed = code;
      this.changed();
    });
    socket.on('message', (data: Buffer) => {
      connection.hear(JSON.parse(data.toString('utf8')) as LiveClientMessage);
      this.changed();
    });
    this.changed();
  }
}
