/**
 * Telephone calls of both carriers to the keyless demo, its ear, mind and voice included, whose worker is killed in the middle of every
 * step (docs/telephony.md, Transfers and keys): nothing is said twice, and the carrier is asked for nothing twice. The calls run side by side, so
 * that one death meets all of them; they are told apart by the city that they ask for. A death within what the caller says is in
 * killed-worker.real.test.ts: the demo's ear does not always understand what two workers have heard.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sayOrder, sayWeather } from '../../../examples/demo/knowledge.ts';
import { encodeMulaw } from '../../../shared/audio/g711.ts';
import { carrierEnv } from '../../support/fakes/fake-twilio.ts';
import { spoken, stopped, type DemoAddresses } from '../../support/process/running-demo.ts';
import { Observed } from '../../support/process/observed.ts';
import { build, TestService } from '../../support/process/service.ts';
import { FakeTwilioApi } from '../../support/telephony/fake-twilio-api.ts';
import { FakeTelnyx } from '../../support/telephony/fake-telnyx.ts';
import { phoneAtA, phoneAtB, type Asked, type Phone, type Stream } from '../../support/telephony/phones.ts';

const greeting = 'Hello! You can ask me about the time, the weather, a table, or an order.';
const handOff = 'One moment, I will connect you.';
const returnLine = 'Sorry, nobody was free. What else can I do?';
/** Where another worker goes on, the rest of a sentence is spoken anew, which sounds a little longer: up to a word, once for each death. */
const seamMs = 600;

interface Asking {
  readonly messages: readonly { readonly role: string; readonly content?: string | null }[];
}

/** The demo's mind, listened to. */
class Mind extends Observed {
  readonly asked: Asking[] = [];
  #server: Server | undefined;

  async start(target: string): Promise<string> {
    const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      if (body !== '') this.asked.push(JSON.parse(body) as Asking);
      this.changed();
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${target}${(request.url ?? '').replace('/v1', '')}`, {
        ...{ method: request.method ?? 'POST', headers },
        ...(body !== '' && { body }),
      });
      response.writeHead(answer.status, {
        'content-type': answer.headers.get('content-type') ?? 'text/plain',
      });
      response.end(Buffer.from(await answer.arrayBuffer()));
    };
    this.#server = createServer(
      (request, response) => void pass(request, response).catch(() => response.destroy()),
    );
    await new Promise<void>((resolve) => this.#server?.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** What is known of the call whose caller has said this. */
  newest(word: string): string[] {
    const own = this.asked.findLast(({ messages }) =>
      messages.some(({ role, content }) => role === 'user' && content?.includes(word)),
    );
    return (own?.messages ?? []).filter(({ role }) => role !== 'system').map(({ content }) => content ?? '');
  }

  close(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }
}

let demo: ChildProcess;
let places: DemoAddresses;
let service: TestService;
let api: FakeTwilioApi;
let carrier: FakeTelnyx;
const mind = new Mind();

beforeAll(async () => {
  build();
  demo = spawn(process.execPath, ['dist/examples/demo/main.js', '--free-ports'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: demo.stdout! }), 'line')) as [string];
  const ready = JSON.parse(line) as DemoAddresses & { agentFile: string };
  places = ready;
  const llm = await mind.start(ready.llm);
  const agentText = readFileSync(ready.agentFile, 'utf8')
    .replace(ready.llm, llm)
    .replace('tools = ["end_call"]', 'tools = ["end_call", "transfer_call"]')
    // A slow machine may not add words of its own.
    .replace('[turn]', 'fillers = []\n\n[turn]')
    .concat(
      `\n[telephony]\nwarm_transfer = true\ncaller_id = "+15550100002"\nreturn_line = "${returnLine}"\n`,
      '[telephony.destinations]\nreception = "+15550100076"\nsupport = "+15550100077"\n',
    );
  [api, carrier] = await Promise.all([new FakeTwilioApi().start(), new FakeTelnyx().start()]);
  service = await TestService.start({
    ...{ agentText, workers: 2 },
    env: {
      ...{ ...carrierEnv, ...api.env, ...carrier.env, SVC_CARRIER_A_RESUME_STREAM: '1' },
      ...{ SVC_CALLBACK_ADDR: '127.0.0.1:0', SVC_CALLBACK_SECRET: 'o'.repeat(32) },
      SVC_CARRIER_B_CONNECTION_ID: 'c',
    },
  });
  api.listener = service.address('carrier_a');
  carrier.listener = service.address('carrier_b');
});

afterAll(async () => {
  await service.stop();
  await Promise.all([api.close(), carrier.close(), stopped(demo)]);
  mind.close();
});

afterEach(() => {
  for (const stream of [...api.streams.values(), ...carrier.streams]) stream.close();
});

const questions = new Map<string, Promise<Int16Array>>();

/** How long a text of the agent sounds on a telephone. */
async function soundMs(text: string): Promise<number> {
  const pcm = await spoken(places, text, { rate: 8_000, voice: 'slt' });
  const coded = new Uint8Array(pcm.length);
  encodeMulaw(pcm, coded);
  let ms = 0;
  for (let at = 0; at < coded.length; at += 160)
    if (coded.subarray(at, at + 160).some((byte) => (byte & 0x7f) < 0x7e)) ms += 20;
  return ms;
}

/** One call of one carrier, and what was said in it. */
class Caller {
  stream: Stream;
  readonly phone: Phone;
  readonly id: string;
  readonly city: 'london' | 'paris';
  readonly said: string[] = [];

  private constructor(phone: Phone, given: { id: string; stream: Stream; city: 'london' | 'paris' }) {
    this.phone = phone;
    this.id = given.id;
    this.stream = given.stream;
    this.city = given.city;
  }

  static async open(phone: Phone, { id, city }: Pick<Caller, 'id' | 'city'>): Promise<Caller> {
    return new Caller(phone, { id, city, stream: await phone.call(id) });
  }

  /** Says a sentence; resolves when half of it is out. */
  async ask(text: string): Promise<void> {
    if (!questions.has(text)) questions.set(text, spoken(places, text, { rate: 16_000 }));
    const pcm = await questions.get(text)!;
    void this.stream.say(pcm);
    await this.stream.until(() => this.stream.handset.unsaid < pcm.length / 640);
  }

  press(digits: string): void {
    for (const digit of digits) this.stream.press(digit);
  }

  async heard(ms: number): Promise<void> {
    const from = this.stream.handset.heardMs;
    await this.stream.until(() => this.stream.handset.heardMs >= from + ms);
  }

  /** These texts were heard behind the ones before, whole, and nothing else. */
  async saidOnce(...texts: readonly string[]): Promise<void> {
    this.said.push(...texts);
    const lengths = await Promise.all(this.said.map(soundMs));
    const ms = lengths.reduce((sum, one) => sum + one, 0);
    const { stream } = this;
    const isOver = (): boolean => stream.handset.isIdle && stream.messages.at(-1)?.['event'] === 'mark';
    await stream.until(() => stream.handset.heardMs >= ms - seamMs && isOver());
    expect(stream.handset.heardMs - ms, this.said.join(' ')).toBeLessThanOrEqual(seamMs);
  }

  /** What is counted from here on is what is heard from here on. */
  forget(): void {
    this.said.length = 0;
    this.stream.handset.played.length = 0;
  }
}

const ofCall =
  (id: string) =>
  (line: Readonly<Record<string, unknown>>): boolean =>
    line['call'] === id;

const workerOf = (id: string): number =>
  Number(
    service.log.findLast(
      (line) => ofCall(id)(line) && ['call started', 'call taken up'].includes(line.msg),
    )?.['pid'],
  );

/** The worker of the first of these calls dies. Resolves when others have all calls of it. */
async function kill(callers: readonly Caller[]): Promise<void> {
  await service.readyWhen((body) => body['workers'] === 2);
  const pid = workerOf(callers[0]!.id);
  const gone = callers.filter(({ id }) => workerOf(id) === pid);
  process.kill(pid, 'SIGKILL');
  for (const { id } of gone)
    await service.says(
      'call taken up',
      (line) => ofCall(id)(line) && line['pid'] !== pid && workerOf(id) !== pid,
    );
}

const both = (callers: readonly Caller[], act: (caller: Caller) => Promise<void>): Promise<unknown> =>
  Promise.all(callers.map(act));

/** A worker dies in the middle of the next request of this kind that the first caller's carrier gets. */
const killWhenAsked = ([first, ...others]: readonly Caller[], what: Asked): Promise<void> =>
  new Promise((resolve, reject) => {
    first!.phone.whenAsked(what, async () => {
      api.before = carrier.before = undefined;
      await kill([first!, ...others]).then(resolve, reject);
    });
  });

const moved = ({ id }: Caller, phase: string): Promise<Readonly<Record<string, unknown>>> =>
  service.says('a warm transfer has moved', (line) => ofCall(id)(line) && line['phase'] === phase);

const weatherOf = ({ city }: Caller): string => sayWeather(city, 'today');

const open = (ids: readonly [string, string]): Promise<Caller[]> =>
  Promise.all([
    Caller.open(phoneAtA(service, api), { id: ids[0], city: 'london' }),
    Caller.open(phoneAtB(carrier), { id: ids[1], city: 'paris' }),
  ]);

describe('telephone calls to the keyless demo whose worker dies at every step', () => {
  it('are answered, take keys, and come back from a voicemail', async () => {
    const callers = await open(['CA1', 'v3:call-1']);
    await both(callers, (caller) => caller.heard(1_500));
    await kill(callers);
    await both(callers, (caller) => caller.saidOnce(greeting));

    // The demo has one ear: they speak one behind the other.
    for (const caller of callers) {
      await caller.ask(`what is the weather in ${caller.city}`);
      await caller.heard(700);
    }
    await kill(callers);
    await both(callers, (caller) => caller.saidOnce(weatherOf(caller)));

    for (const caller of callers) caller.press('4');
    // What a worker reads in the instant of its death, nobody has.
    await both(callers, ({ stream }) => stream.say(new Int16Array(8_000)));
    await kill(callers);
    for (const caller of callers) caller.press('27#');
    await both(callers, (caller) => caller.saidOnce(sayOrder('427')));

    for (const caller of callers) caller.forget();
    const parked = killWhenAsked(callers, 'park');
    for (const caller of callers) {
      await caller.ask('can i speak to a person');
      await moved(caller, 'rung');
    }
    await parked;
    await both(callers, async (caller) => {
      const before = caller.stream;
      const handle = String((await moved(caller, 'rung'))['transfer']);
      if (caller.phone.name === 'B') before.close();
      await caller.phone.machine(handle);
      await moved(caller, 'back');
      const about = caller.phone.name === 'A' ? api : carrier;
      await about.until(() => caller.phone.stream(caller.id) !== before);
      caller.stream = caller.phone.stream(caller.id);
      caller.forget();
      await caller.heard(500);
    });
    await kill(callers);
    await both(callers, (caller) => caller.saidOnce(returnLine));
    for (const caller of callers) caller.press('513#');
    await both(callers, (caller) => caller.saidOnce(sayOrder('513')));
    for (const caller of callers) {
      const known = mind.newest(caller.city);
      const once = [greeting, weatherOf(caller), sayOrder('427'), handOff, returnLine, 'keys: 427'];
      for (const text of once) expect(known.filter((one) => one.includes(text)).length, text).toBe(1);
      const asked = (['park', 'ring', 'hang_up', 'put_back'] as const).map((what) =>
        caller.phone.asked(what),
      );
      expect(asked).toEqual([1, 1, 1, 1]);
    }
  });

  it('are transferred, cold', async () => {
    api.requests.length = carrier.commands.length = 0;
    const callers = await open(['CA2', 'v3:call-2']);
    await both(callers, (caller) => caller.saidOnce(greeting));
    // The demo has one ear.
    for (const caller of callers) {
      const { id, phone, stream } = caller;
      const killed = killWhenAsked([caller], 'transfer');
      await caller.ask("i'd like to speak to customer support");
      await killed;
      await service.says(
        'the carrier was asked',
        (line) => ofCall(id)(line) && line['command'] === 'transfer',
      );
      await service.says('call ended', ofCall(id));
      expect(phone.asked('transfer')).toBe(1);
      const ms = (await soundMs(greeting)) + (await soundMs(handOff));
      expect(Math.abs(stream.handset.heardMs - ms)).toBeLessThanOrEqual(seamMs);
    }
  });

  it.each([
    ['A', 'CA3', 'london'],
    ['B', 'v3:call-3', 'paris'],
  ] as const)('are interrupted, and transferred, warm: carrier %s', async (name, id, city) => {
    api.requests.length = carrier.commands.length = 0;
    const phone = name === 'A' ? phoneAtA(service, api) : phoneAtB(carrier);
    const caller = await Caller.open(phone, { id, city });
    const { stream } = caller;
    const before = mind.asked.length;
    await caller.heard(1_200);
    await caller.ask(`what is the weather in ${city}`);
    await stream.until(() => stream.of('clear').length > 0);
    caller.forget();
    await mind.until(() => mind.asked.length > before);
    await kill([caller]);
    await caller.saidOnce(weatherOf(caller));

    const parked = killWhenAsked([caller], 'park');
    await caller.ask('can i speak to a person');
    const handle = String((await moved(caller, 'rung'))['transfer']);
    await parked;
    if (name === 'B') stream.close();
    const ms = (await soundMs(weatherOf(caller))) + (await soundMs(handOff));
    expect(Math.abs(stream.handset.heardMs - ms)).toBeLessThanOrEqual(seamMs);
    // A caller who has not spoken yet says a full stop, for templates that want the caller first.
    const texts = mind.newest(city).filter((text) => text !== '.' && !text.includes(city));
    const [said = '', ...later] = texts;
    expect(greeting.startsWith(said), said).toBe(true);
    expect(said.length).toBeLessThan(greeting.length);
    expect(later.filter((text) => greeting.includes(text))).toEqual([]);

    await phone.person(handle);
    const address = `http://${service.address('callback')}/transfers/${handle}/complete_warm`;
    const headers = { authorization: `Bearer ${'o'.repeat(32)}` };
    expect((await fetch(address, { method: 'POST', headers })).status).toBe(202);
    await phone.informed(handle);
    await moved(caller, 'joined');
    const asked = (['park', 'ring', 'hang_up', 'put_back'] as const).map((what) => phone.asked(what));
    expect(asked).toEqual([1, 1, 0, 0]);
  });
});
