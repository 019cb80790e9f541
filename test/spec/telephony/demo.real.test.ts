/**
 * Telephone calls of both carriers to the keyless demo: its own recogniser hears 8 kHz mu-law, its own rules answer, its own voice speaks.
 * The worker is killed in the middle of each thing, and nothing is said twice. What was said is judged by how long it was heard.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite, type Flite } from '../../../examples/demo/flite.ts';
import { sayOrder } from '../../../examples/demo/knowledge.ts';
import { sayTime } from '../../../examples/demo/spoken-values.ts';
import { carrierEnv } from '../../support/fakes/fake-carrier-a.ts';
import { stopped } from '../../support/process/running-demo.ts';
import { TestService } from '../../support/process/service.ts';
import { FakeCarrierAApi } from '../../support/telephony/fake-carrier-a-api.ts';
import { FakeCarrierB } from '../../support/telephony/fake-carrier-b.ts';
import { Handset } from '../../support/telephony/handset.ts';
import {
  newPhoneA,
  newPhoneB,
  type Asked,
  type Phone,
  type PhoneWorld,
  type Stream,
} from '../../support/telephony/phones.ts';

let demo: ChildProcess;
let agentText: string;
let flite: Flite;
let service: TestService;
let api: FakeCarrierAApi;
let carrier: FakeCarrierB;
let callId = '';
let calls = 0;

const greeting = 'Hello.';
const handOff = 'One moment, I will connect you.';
const returnLine = 'I am sorry, nobody is free.';
const program = fileURLToPath(new URL('../../../dist/examples/demo/main.js', import.meta.url));
const world = (): PhoneWorld => ({ service, api, carrier });
const phones = [newPhoneA(world), newPhoneB(world)];

beforeAll(async () => {
  flite = await loadFlite();
  // The service that a test starts first has built everything.
  demo = spawn(process.execPath, [program, '--free-ports'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: demo.stdout! }), 'line')) as [string];
  agentText = readFileSync((JSON.parse(line) as { agentFile: string }).agentFile, 'utf8')
    .replace(/^greeting = .*$/m, `greeting = "${greeting}"`)
    .replace('tools = ["end_call"]', 'tools = ["end_call", "transfer_call"]');
});

afterAll(() => stopped(demo));

afterEach(async () => {
  for (const stream of [...api.streams.values(), ...carrier.streams]) stream.close();
  await service.stop();
  await Promise.all([api.close(), carrier.close()]);
});

async function start({ warm }: { readonly warm: boolean }): Promise<void> {
  [api, carrier] = await Promise.all([new FakeCarrierAApi().start(), new FakeCarrierB().start()]);
  service = await TestService.start({
    agentText: `${agentText}
[telephony]
warm_transfer = ${warm}
caller_id = "+15550100002"
return_line = "${returnLine}"
[telephony.destinations]
reception = "+15550100077"
`,
    workers: 2,
    env: {
      ...{ ...carrierEnv, ...api.env, ...carrier.env, SVC_CARRIER_A_RESUME_STREAM: '1' },
      ...{ SVC_CALLBACK_ADDR: '127.0.0.1:0', SVC_CALLBACK_SECRET: 'o'.repeat(32) },
      SVC_CARRIER_B_CONNECTION_ID: 'conn-1',
    },
  });
  api.listener = service.address('carrier_a');
  carrier.listener = service.address('carrier_b');
}

/** How long these are heard when the demo's voice says them once. */
function lengthMs(...texts: readonly string[]): number {
  return texts.reduce((ms, text) => {
    const handset = new Handset();
    handset.say(flite(text, { voice: 'slt', speed: 1 }));
    while (handset.unsaid > 0) {
      handset.take(handset.speak());
      handset.play();
    }
    return ms + handset.heardMs;
  }, 0);
}

const isOver = ({ handset, messages }: Stream): boolean =>
  handset.isIdle && messages.at(-1)?.['event'] === 'mark';

/** Pauses within and between sentences may be a little longer or shorter; a sentence that is said again is far longer. */
const slackMs = 450;

/** Behind what was heard before, these were said, once. Resolves with what has been heard by now. */
async function says(stream: Stream, before: number, ...texts: readonly string[]): Promise<number> {
  const expected = before + lengthMs(...texts);
  await stream.until(() => stream.handset.heardMs >= expected - slackMs && isOver(stream));
  expect(stream.handset.heardMs, texts.join(' ')).toBeLessThan(expected + slackMs);
  return stream.handset.heardMs;
}

const ofCall = (line: Readonly<Record<string, unknown>>): boolean => line['call'] === callId;

/** The worker that has the call dies. Resolves when another one has it, and a third is there. */
async function kill(): Promise<void> {
  const has = service.log.findLast(
    (line) => ofCall(line) && ['call started', 'call taken up'].includes(line.msg),
  );
  process.kill(Number(has?.['pid']), 'SIGKILL');
  await service.says('call taken up', (line) => ofCall(line) && line['pid'] !== has?.['pid']);
  await service.readyWhen((body) => body['workers'] === 2);
}

/** Says something, and has the worker killed in the middle of it. */
async function sayWhileItDies(stream: Stream, words: string): Promise<void> {
  const pcm = flite(words, { voice: 'rms', speed: 1 });
  const asking = stream.say(pcm);
  await stream.until(() => stream.handset.unsaid < pcm.length / 640);
  await kill();
  await asking;
}

const killWhenAsked = (phone: Phone, what: Asked): Promise<void> =>
  new Promise((resolve) => {
    phone.whenAsked(what, async () => {
      api.before = carrier.before = undefined;
      await kill();
      resolve();
    });
  });

async function greeted(phone: Phone): Promise<readonly [Stream, number]> {
  calls += 1;
  callId = phone.name === 'A' ? `CA${calls}` : `v3:call-${calls}`;
  const stream = await phone.call(callId);
  return [stream, await says(stream, 0, greeting)];
}

const timeNow = (): string => {
  const now = new Date();
  return `It is ${sayTime({ hour: now.getHours(), minute: now.getMinutes() })}.`;
};

async function askForPerson(stream: Stream): Promise<void> {
  await stream.say(flite('I want to speak to a human.', { voice: 'rms', speed: 1 }));
}

describe.each(phones)(
  'a call of carrier $name to the demo, whose worker is killed all the while',
  (phone) => {
    it('is answered, hears keys, is interrupted, and is given to a voicemail that is refused: the caller is back', async () => {
      await start({ warm: true });
      const [stream, first] = await greeted(phone);

      // Heard and answered.
      await sayWhileItDies(stream, 'What time is it?');
      const second = await says(stream, first, timeNow());

      // Keys, of which one comes to each worker.
      stream.press('1');
      await kill();
      for (const digit of '234#') stream.press(digit);
      const third = await says(stream, second, sayOrder('1234'));

      // Interrupted: less is heard than the answer, and then what the interruption asked for.
      const long = sayOrder('98765432109876543210');
      for (const digit of '98765432109876543210#') stream.press(digit);
      await stream.until(() => stream.handset.heardMs > third + 600);
      await sayWhileItDies(stream, 'What time is it?');
      expect(stream.of('clear').length).toBeGreaterThan(0);
      const answered = third + 600 + lengthMs(timeNow());
      await stream.until(() => stream.handset.heardMs >= answered - slackMs && isOver(stream));
      expect(stream.handset.heardMs).toBeLessThan(third + lengthMs(long, timeNow()) - slackMs);

      // Given over, warm, to a machine.
      const parked = killWhenAsked(phone, 'park');
      await askForPerson(stream);
      await parked;
      const moved = (phase: string): Promise<Readonly<Record<string, unknown>>> =>
        service.says('a warm transfer has moved', (line) => ofCall(line) && line['phase'] === phase);
      const { transfer } = await moved('rung');
      if (phone.name === 'B') stream.close();
      await phone.machine(String(transfer));
      await moved('back');
      await (phone.name === 'A' ? api : carrier).until(() => phone.stream(callId) !== stream);
      const back = phone.stream(callId);
      await back.until(() => back.handset.heardMs > 300);
      await kill();
      const returned = await says(back, 0, returnLine);
      const asked = (['park', 'ring', 'hang_up', 'put_back'] as const).map((what) => phone.asked(what));
      // Carrier B was asked for the stream of the call itself before.
      expect(asked).toEqual([1, 1, 1, 1]);
      await sayWhileItDies(back, 'What time is it?');
      await says(back, returned, timeNow());
    });

    it('is given over, cold: the carrier is asked once, and the hand-off is said once', async () => {
      await start({ warm: false });
      const [stream, first] = await greeted(phone);
      const asked = killWhenAsked(phone, 'transfer');
      await askForPerson(stream);
      await asked;
      await service.says('the carrier was asked', (line) => ofCall(line) && line['command'] === 'transfer');
      await service.says('call ended', ofCall);
      expect(phone.asked('transfer')).toBe(1);
      const expected = first + lengthMs(handOff);
      expect(Math.abs(stream.handset.heardMs - expected)).toBeLessThan(slackMs);
    });
  },
);
