/**
 * A folder of agents for a service of many, whose voices can be told apart by ear: each agent has a speech server of its own that speaks in one
 * tone, and who hears a call can say whose voice it was.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { FakeSpeech, samplesOf } from '../fakes/fake-speech.ts';
import { reply } from '../fakes/fake-http.ts';
import type { Providers } from './service.ts';

const speechRate = 24_000;
/** Of a line that an agent file holds. */
const longestLine = 1_000;

/** Speaks every text as one tone. */
export const speakingAt = (hz: number): FakeSpeech =>
  new FakeSpeech((request) => {
    const bytes = Buffer.alloc(samplesOf(String(request.body['input'])) * 2);
    for (let at = 0; at < bytes.length / 2; at += 1)
      bytes.writeInt16LE(Math.round(9_000 * Math.sin((2 * Math.PI * hz * at) / speechRate)), at * 2);
    reply({ headers: { 'content-type': 'audio/pcm' }, chunks: [bytes] })(request);
  });

/** Far enough apart to be told from one another at 8 kHz, none a multiple of another one. */
const tones = [330, 430, 560, 730, 950, 1_230, 1_600, 2_080, 2_700];

export interface ToneAgent {
  readonly id: string;
  /** Lines of `[agent]`. */
  readonly agent?: string;
  /** Other tables. */
  readonly more?: string;
}

export class AgentFolder {
  readonly dir = mkdtempSync(join(tmpdir(), 'svc-agents-'));
  readonly #voices = new Map<string, { readonly hz: number; readonly server: FakeSpeech }>();

  /** The voice of an agent, which it has whatever its file says otherwise. */
  async #voiceOf(id: string): Promise<FakeSpeech> {
    const known = this.#voices.get(id);
    if (known !== undefined) return known.server;
    const hz = tones[this.#voices.size];
    if (hz === undefined) throw new Error('there are no more voices');
    const server = speakingAt(hz);
    this.#voices.set(id, { hz, server });
    await server.start();
    return server;
  }

  /** The text of an agent that speaks when its call opens, for as long as it may: a minute, which a busy machine needs for a test. */
  async textOf({ id, agent = '', more = '' }: ToneAgent, providers: Providers): Promise<string> {
    const { baseUrl } = await this.#voiceOf(id);
    const name = id.split('/').at(-1) ?? id;
    const sentence = `This is ${name}. `;
    const greeting = sentence.repeat(Math.floor(longestLine / sentence.length)).trim();
    const text = providers.agentText({ greeting, agent });
    return `${text.replace('name = "test"', `name = "${name}"`).replace(providers.tts.baseUrl, baseUrl)}\n${more}`;
  }

  /** Writes the file of an agent as a program should that replaces one. */
  async put(agent: ToneAgent, providers: Providers): Promise<string> {
    const path = this.pathOf(agent.id);
    mkdirSync(dirname(path), { recursive: true });
    // The providers of tests are on this machine.
    const [tenant, name] = agent.id.split('/');
    if (name !== undefined) this.allow(tenant ?? '', '[allow]\nprivate_addresses = true\n');
    writeFileSync(`${path}.new`, await this.textOf(agent, providers));
    renameSync(`${path}.new`, path);
    return path;
  }

  /** Writes the file of a tenant, where there is none yet or it is `anew`. */
  allow(tenant: string, text: string, { anew } = { anew: false }): void {
    const path = join(this.dir, `${tenant}.tenant.toml`);
    if (anew || !existsSync(path)) writeFileSync(path, text);
  }

  pathOf(id: string): string {
    return join(this.dir, `${id}.toml`);
  }

  /** What an agent was asked to say, so far. */
  said(id: string): readonly string[] {
    return this.#voices.get(id)?.server.inputs ?? [];
  }

  /** Whose voice is heard in a sound; undefined in silence. */
  heard(pcm: Int16Array, rate: number): string | undefined {
    let loudest: { readonly id: string; readonly power: number } | undefined;
    for (const [id, { hz }] of this.#voices) {
      const power = powerAt(pcm, hz, rate);
      if (power > (loudest?.power ?? leastPower)) loudest = { id, power };
    }
    return loudest?.id;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#voices.values()].map(({ server }) => server.close()));
    rmSync(this.dir, { recursive: true, force: true });
  }
}

const leastPower = 10_000;

/** Mean square of one tone in a sound (Goertzel). */
function powerAt(pcm: Int16Array, hz: number, rate: number): number {
  const [real, imaginary] = [0, 1].map((quarter) =>
    pcm.reduce(
      (sum, sample, at) => sum + sample * Math.cos((2 * Math.PI * hz * at) / rate - (quarter * Math.PI) / 2),
      0,
    ),
  );
  return ((real ?? 0) ** 2 + (imaginary ?? 0) ** 2) / Math.max(1, pcm.length) ** 2;
}
