/**
 * Scenarios for `sipp` (Debian's sip-tester), an implementation of SIP that knows nothing of ours: written as steps, run as the real
 * program, one call each. What `sipp` does not get as the scenario says is told in its own words.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const program = '/usr/bin/sipp';

/** Why these tests cannot run here, or undefined when they can. */
export const sippMissing: string | undefined = existsSync(program)
  ? undefined
  : `${program} is not installed`;

export interface Request {
  /** Header lines, beside those that every request has. */
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly type?: string;
  readonly cseq?: number;
  /** The whole start line. */
  readonly line?: string;
  /** Repeats itself until it is answered. */
  readonly repeats?: boolean;
  /** Changes the text as it is. */
  readonly edit?: (text: string) => string;
}

const indented = (text: string): string => text.trim().replaceAll(/\r?\n/g, '\n');

/** A request within the call that the scenario is about. */
export function send(method: string, request: Request = {}): string {
  const { headers = [], body = '', type = 'application/sdp', cseq = 1, repeats = true } = request;
  const text = [
    request.line ?? `${method} sip:agent@[remote_ip]:[remote_port] SIP/2.0`,
    'Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]',
    'From: "sipp" <sip:+15550100@[local_ip]:[local_port]>;tag=[pid]s[call_number]',
    'To: <sip:agent@[remote_ip]:[remote_port]>[peer_tag_param]',
    'Call-ID: [call_id]',
    `CSeq: ${cseq} ${method}`,
    'Contact: <sip:sipp@[local_ip]:[local_port];transport=[transport]>',
    'Max-Forwards: 70',
    ...headers,
    ...(body === '' ? [] : [`Content-Type: ${type}`]),
    'Content-Length: [len]',
    '',
    body,
  ].join('\n');
  const attributes = repeats && method !== 'ACK' ? ' retrans="500"' : '';
  return `<send${attributes}><![CDATA[\n${indented((request.edit ?? ((same) => same))(text))}\n\n]]></send>`;
}

export interface Answer {
  /** What must stand in the answer, as an extended regular expression. */
  readonly has?: string;
  readonly isOptional?: boolean;
  /** The challenge is kept for the next request. */
  readonly isChallenge?: boolean;
}

/** An answer that has to come. */
export function receive(
  status: number,
  { has, isOptional = false, isChallenge = false }: Answer = {},
): string {
  const attributes = `response="${status}" rrs="true"${isOptional ? ' optional="true"' : ''}${isChallenge ? ' auth="true"' : ''}`;
  if (has === undefined) return `<recv ${attributes}/>`;
  const pattern = has.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const check = `<ereg regexp="${pattern}" search_in="msg" check_it="true" assign_to="found"/>`;
  return `<recv ${attributes}><action>${check}</action></recv>`;
}

export const pause = (ms: number): string => `<pause milliseconds="${ms}"/>`;

export interface SippOptions {
  readonly port: number;
  readonly transport?: 'udp' | 'tcp';
  readonly account?: { readonly user: string; readonly password: string };
}

/** Below what systems give out by themselves: several that look for a port at once would find the same one. */
let lastPort = 20_000;

/** Runs one call of a scenario. Resolves with undefined where everything came as it should, else with what went wrong. */
export function runSipp(steps: readonly string[], options: SippOptions): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'sipp-'));
  const reference = steps.some((step) => step.includes('assign_to')) ? '<Reference variables="found"/>' : '';
  writeFileSync(
    join(folder, 'one.xml'),
    `<?xml version="1.0" encoding="UTF-8"?>\n<scenario name="one">${steps.join('\n')}${reference}</scenario>\n`,
  );
  const { account, transport = 'udp' } = options;
  lastPort += 2;
  const args = [
    ...['-sf', 'one.xml', '-m', '1', '-i', '127.0.0.1', '-t', transport === 'tcp' ? 't1' : 'u1', '-nostdin'],
    ...['-p', String(lastPort), '-recv_timeout', '20000', '-timeout', '60s', '-timeout_error', '-trace_err'],
    ...(account === undefined ? [] : ['-au', account.user, '-ap', account.password]),
    `127.0.0.1:${options.port}`,
  ];
  return new Promise((resolve) => {
    execFile(program, args, { cwd: folder }, (error, _stdout, stderr) => {
      const told = readdirSync(folder)
        .filter((name) => name.endsWith('.log'))
        .map((name) => readFileSync(join(folder, name), 'utf8'));
      rmSync(folder, { recursive: true });
      resolve(
        error === null ? undefined : [`sipp ended with ${String(error.code)}`, ...told, stderr].join('\n'),
      );
    });
  });
}
