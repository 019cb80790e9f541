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

/** A request of the service that has to come, and what must stand in it. */
export function hear(
  method: string,
  { has, isOptional = false, signedBy }: Answer & { readonly signedBy?: SippAccount } = {},
): string {
  const check = (into: string, pattern: string): string =>
    `<ereg regexp="${pattern}" search_in="msg" check_it="true" assign_to="${into}"/>`;
  const actions = [
    // Requests of this side say To what the service says From.
    ...(method === 'INVITE'
      ? [check('theirs', '[^\\r\\n]+" header="From:').replace('search_in="msg"', 'search_in="hdr"')]
      : []),
    ...(has === undefined ? [] : [check('found', has.replaceAll('<', '&lt;'))]),
    ...(signedBy === undefined
      ? []
      : [`<verifyauth assign_to="signed" username="${signedBy.user}" password="${signedBy.password}"/>`]),
  ];
  const attributes = `request="${method}"${isOptional ? ' optional="true"' : ''}`;
  return `<recv ${attributes}><action>${actions.join('')}</action></recv>`;
}

/** The answer to it. */
export function reply(
  status: number,
  { headers = [], body = '' }: Pick<Request, 'headers' | 'body'> = {},
): string {
  const text = [
    `SIP/2.0 ${status} As The Scenario Says`,
    '[last_Via:]',
    '[last_From:]',
    `To: <sip:callee@127.0.0.1>;tag=${tag}`,
    '[last_Call-ID:]',
    '[last_CSeq:]',
    'Contact: <sip:callee@[local_ip]:[local_port];transport=[transport]>',
    ...headers,
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    'Content-Length: [len]',
    '',
    body,
  ].join('\n');
  return `<send><![CDATA[\n${indented(text)}\n\n]]></send>`;
}

const tag = '[pid]s[call_number]';

/** A request of the called party. */
export const sendBack = (method: string, request: Request): string =>
  send(method, {
    ...request,
    line: `${method} sip:[remote_ip]:[remote_port] SIP/2.0`,
    edit: (text) =>
      text
        .replace(/^From:.*$/m, `From: <sip:callee@127.0.0.1>;tag=${tag}`)
        .replace(/^To:.*$/m, 'To:[$theirs]'),
  });

export const pause = (ms: number): string => `<pause milliseconds="${ms}"/>`;

export interface SippOptions {
  readonly port: number;
  readonly transport?: 'udp' | 'tcp';
  readonly account?: SippAccount;
  /** Where it is called. */
  readonly at?: number;
}

interface SippAccount {
  readonly user: string;
  readonly password: string;
}

/** Below what systems give out by themselves: several that look for a port at once would find the same one. */
let lastPort = 20_000;

/** Runs one call of a scenario. Resolves with undefined where everything came as it should, else with what went wrong. */
export function runSipp(steps: readonly string[], options: SippOptions): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'sipp-'));
  const named = ['found', 'theirs', 'signed'].filter((name) =>
    steps.some((step) => step.includes(`assign_to="${name}"`)),
  );
  const reference = named.length === 0 ? '' : `<Reference variables="${named.join()}"/>`;
  writeFileSync(
    join(folder, 'one.xml'),
    `<?xml version="1.0" encoding="UTF-8"?>\n<scenario name="one">${steps.join('\n')}${reference}</scenario>\n`,
  );
  const { account, transport = 'udp' } = options;
  lastPort += 2;
  const args = [
    ...['-sf', 'one.xml', '-m', '1', '-i', '127.0.0.1', '-t', transport === 'tcp' ? 't1' : 'u1', '-nostdin'],
    ...[
      '-p',
      String(options.at ?? lastPort),
      '-recv_timeout',
      '20000',
      '-timeout',
      '60s',
      '-timeout_error',
      '-trace_err',
    ],
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
