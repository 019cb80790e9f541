/** `svc-supervisor agents`: the agents of a running service, and `agents reload`, which has it look at their files at once. */
import { printable } from '../printable.ts';

/** A thousand files that changed take seconds to read. */
const answersWithinMs = 30_000;

export interface AgentsOptions {
  readonly url: string | undefined;
  readonly json: boolean;
  /** Look at the files first. */
  readonly reloads: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly write: (line: string) => void;
  readonly writeError: (line: string) => void;
}

interface Row {
  readonly agent: string | null;
  readonly file: string;
  readonly version: string | null;
  readonly since: string | null;
  readonly calls: number;
  readonly problem: string | null;
}

interface Answer {
  readonly agents: readonly Row[];
  readonly problems: readonly string[];
}

/** Ends with 1 where the service does not answer, or something is wrong with an agent. */
export async function runAgents({
  url,
  json,
  reloads,
  env,
  write,
  writeError,
}: AgentsOptions): Promise<number> {
  const { SVC_CALLBACK_SECRET: secret, SVC_CALLBACK_ADDR: address } = env;
  if (secret === undefined || secret === '') {
    writeError('SVC_CALLBACK_SECRET must be set, here and for the service');
    return 2;
  }
  const base = url ?? (address === undefined ? '' : `http://${address}`);
  if (!URL.canParse('/agents', base)) {
    writeError(
      '--url: must be the address of the callback listener, such as http://127.0.0.1:8084; SVC_CALLBACK_ADDR says it as well',
    );
    return 2;
  }
  const answer = await ask(new URL(reloads ? '/agents/reload' : '/agents', base), { secret, reloads });
  if (typeof answer === 'string') {
    writeError(answer);
    return 1;
  }
  if (json) write(JSON.stringify(answer));
  else for (const line of tableOf(answer.agents)) write(line);
  if (!json) for (const problem of answer.problems) writeError(printable(problem));
  return answer.problems.length === 0 ? 0 : 1;
}

async function ask(
  address: URL,
  { secret, reloads }: { readonly secret: string; readonly reloads: boolean },
): Promise<Answer | string> {
  try {
    const response = await fetch(address, {
      method: reloads ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${secret}` },
      signal: AbortSignal.timeout(answersWithinMs),
    });
    if (response.status === 401) return 'SVC_CALLBACK_SECRET is not the secret of the service';
    if (response.status === 404) return 'the service has one agent: many need SVC_AGENTS_DIR';
    const answer: unknown = response.ok ? await response.json() : undefined;
    if (typeof answer === 'object' && answer !== null && 'agents' in answer) return answer as Answer;
    return `status ${response.status} instead of a list of agents at ${address.host}`;
  } catch (error) {
    if (error instanceof SyntaxError) return `no list of agents at ${address.host}`;
    // The service is not there, or does not answer in time.
    return `the service does not answer at ${address.host}; --url names its callback listener, SVC_CALLBACK_ADDR`;
  }
}

function tableOf(rows: readonly Row[]): string[] {
  const cells = rows.map(({ agent, file, version, since, calls, problem }) =>
    [
      agent ?? '-',
      version ?? '-',
      since ?? '-',
      String(calls),
      file,
      problem === null ? 'in force' : 'PROBLEM',
    ].map(printable),
  );
  const all = [['AGENT', 'VERSION', 'SINCE', 'CALLS', 'FILE', 'STATE'], ...cells];
  const widths = all[0]?.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0))) ?? [];
  return all.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
