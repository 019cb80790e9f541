/** A server of the Model Context Protocol over HTTP, written by hand so that it can say everything as other servers do. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface McpAsked {
  readonly id: number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** As it was sent. */
  readonly body: string;
  readonly session: string | undefined;
}

export interface McpScript {
  /** JSON of the tools that are listed, or of a whole page. */
  readonly page: string;
  /** JSON of the result of a call, or what answers it in its own way. */
  readonly call?: (asked: McpAsked, response: ServerResponse) => string | undefined;
  /** JSON of what opens a session; absent: as it should be. */
  readonly initialized?: string;
  /** Whether sessions have names. */
  readonly hasSessions?: boolean;
}

const asJson = { 'content-type': 'application/json' };

export class ScriptedMcpServer {
  readonly calls: McpAsked[] = [];
  /** Methods of what asks for no answer. */
  readonly told: string[] = [];
  opened = 0;
  readonly #script: McpScript;
  readonly #server: Server;

  constructor(script: McpScript) {
    this.#script = script;
    this.#server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => this.#take(request, { body, response }));
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #take({ headers }: IncomingMessage, { body, response }: { body: string; response: ServerResponse }): void {
    if (body === '') {
      response.writeHead(405).end();
      return;
    }
    const { id, method, params } = JSON.parse(body) as Partial<McpAsked>;
    const { page, call, initialized, hasSessions = false } = this.#script;
    if (id === undefined || method === undefined) {
      this.told.push(method ?? '');
      response.writeHead(202).end();
      return;
    }
    const answer = (result: string, more = {}): void =>
      void response
        .writeHead(200, { ...asJson, ...more })
        .end(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
    if (method === 'initialize') {
      this.opened += 1;
      const usual = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`;
      answer(initialized ?? usual, hasSessions ? { 'mcp-session-id': `s${this.opened}` } : {});
    } else if (method === 'tools/list') answer(page);
    else {
      const session = headers['mcp-session-id'];
      const asked = {
        id,
        method,
        params: params ?? {},
        body,
        session: Array.isArray(session) ? session[0] : session,
      };
      this.calls.push(asked);
      const result =
        call === undefined ? '{"content":[{"type":"text","text":"fine"}]}' : call(asked, response);
      if (result !== undefined) answer(result);
    }
  }
}
