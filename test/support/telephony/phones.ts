/** Callers of both carriers, and what a test does with either of them alike. */
import { FakeStream, postEvent, postVoice, streamUrlOf } from '../fakes/fake-carrier-a.ts';
import type { TestService } from '../process/service.ts';
import type { FakeCarrierAApi } from './fake-carrier-a-api.ts';
import type { FakeBStream, FakeCarrierB } from './fake-carrier-b.ts';

export interface PhoneWorld {
  readonly service: TestService;
  readonly api: FakeCarrierAApi;
  readonly carrier: FakeCarrierB;
}

export type Stream = FakeStream | FakeBStream;
/** What a carrier is asked for. */
export type Asked = 'transfer' | 'park' | 'ring' | 'hang_up' | 'put_back';

export interface Phone {
  readonly name: 'A' | 'B';
  call(id: string): Promise<Stream>;
  /** The newest stream of a call. */
  stream(id: string): Stream;
  /** How often it was asked for something since the call began. */
  asked(what: Asked): number;
  /** Done once, when the carrier is asked for something, before it does that. */
  whenAsked(what: Asked, then: () => Promise<void>): void;
  /** The destination's leg is a machine. */
  machine(handle: string): Promise<unknown>;
}

const kindOfA = (
  path: string,
  { Twiml = '', Status }: Readonly<Record<string, string>>,
): Asked | undefined => {
  if (Status === 'completed') return 'hang_up';
  if (path === '/Calls.json') return 'ring';
  if (Twiml.includes('<Number>')) return 'transfer';
  if (Twiml.includes('startConferenceOnEnter="false"')) return 'park';
  return Twiml.includes('<Stream') ? 'put_back' : undefined;
};

/** Callers of carrier A. */
export const newPhoneA = (world: () => PhoneWorld): Phone => ({
  name: 'A',
  call: async (id) => {
    const response = await postVoice(world().service.address('carrier_a'), id);
    const given = { callSid: id, url: streamUrlOf(await response.text()) };
    const stream = new FakeStream(world().service.address('carrier_a'), given);
    world().api.streams.set(id, stream);
    await stream.until(() => stream.status !== 0);
    stream.begin();
    return stream;
  },
  stream: (id) => found(world().api.streams.get(id)),
  asked: (what) => world().api.requests.filter(({ path, form }) => kindOfA(path, form) === what).length,
  whenAsked: (what, then) => {
    world().api.before = async ({ path, form }) => {
      if (kindOfA(path, form) === what) await then();
    };
  },
  machine: (handle) =>
    postEvent(world().service.address('carrier_a'), `/carrier_a/events/amd/${handle}`, {
      CallSid: world().api.newestMade,
      AnsweredBy: 'machine_start',
    }),
});

const actions: Readonly<Record<Asked, string>> = {
  ...{
    transfer: 'transfer',
    park: 'conferences',
    ring: 'calls',
    hang_up: 'hangup',
    put_back: 'streaming_start',
  },
};

/** Callers of carrier B. */
export const newPhoneB = (world: () => PhoneWorld): Phone => ({
  name: 'B',
  call: async (id) => {
    const before = world().carrier.streams.length;
    await world().carrier.tell('call.initiated', { call_control_id: id, direction: 'incoming' });
    await world().carrier.until(() => world().carrier.streams.length > before);
    world().carrier.commands.length = 0;
    return found(world().carrier.streams.at(-1));
  },
  stream: () => found(world().carrier.streams.at(-1)),
  asked: (what) => world().carrier.of(actions[what]).length,
  whenAsked: (what, then) => {
    world().carrier.before = async ({ action }) => {
      if (action === actions[what]) await then();
    };
  },
  machine: (handle) =>
    world().carrier.tell('call.machine.detection.ended', {
      call_control_id: 'v3:leg',
      client_state: Buffer.from(`svc:leg:${handle}`).toString('base64'),
      result: 'machine',
    }),
});

function found(stream: Stream | undefined): Stream {
  if (stream === undefined) throw new Error('no stream');
  return stream;
}
