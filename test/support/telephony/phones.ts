/** Telephones whose calls come through either carrier, alike for tests that are about both. */
import type { TestService } from '../process/service.ts';
import { FakeStream, postEvent, postVoice, streamUrlOf } from '../fakes/fake-twilio.ts';
import type { FakeTwilioApi } from './fake-twilio-api.ts';
import type { FakeBStream, FakeTelnyx } from './fake-telnyx.ts';

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
  /** A person has answered it. */
  person(handle: string): Promise<void>;
  /** That person has heard what it is about. */
  informed(handle: string): Promise<void>;
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

/** A telephone at Twilio. */
export const phoneAtA = (service: TestService, api: FakeTwilioApi): Phone => ({
  name: 'A',
  call: async (id) => {
    const response = await postVoice(service.address('carrier_a'), id);
    const given = { callSid: id, url: streamUrlOf(await response.text()) };
    const stream = new FakeStream(service.address('carrier_a'), given);
    api.streams.set(id, stream);
    await stream.until(() => stream.status !== 0);
    stream.begin();
    return stream;
  },
  stream: (id) => found(api.streams.get(id)),
  asked: (what) => api.requests.filter(({ path, form }) => kindOfA(path, form) === what).length,
  whenAsked: (what, then) => {
    api.before = async ({ path, form }) => {
      if (kindOfA(path, form) === what) await then();
    };
  },
  machine: (handle) => tellA(service, handle, { CallSid: api.newestMade, AnsweredBy: 'machine_start' }),
  person: async (handle) => {
    await tellA(service, handle, { CallSid: api.newestMade, AnsweredBy: 'human' });
  },
  // The carrier says nothing of it.
  informed: () => Promise.resolve(),
});

const tellA = (
  service: TestService,
  handle: string,
  form: Readonly<Record<string, string>>,
): Promise<Response> => postEvent(service.address('carrier_a'), `/carrier_a/events/amd/${handle}`, form);

const actions: Readonly<Record<Asked, string>> = {
  ...{
    transfer: 'transfer',
    park: 'conferences',
    ring: 'calls',
    hang_up: 'hangup',
    put_back: 'streaming_start',
  },
};

/** A telephone at Telnyx, whose one call is the newest. */
export const phoneAtB = (carrier: FakeTelnyx): Phone => ({
  name: 'B',
  call: async (id) => {
    const before = carrier.streams.length;
    await carrier.tell('call.initiated', { call_control_id: id, direction: 'incoming' });
    await carrier.until(() => carrier.streams.length > before);
    carrier.commands.length = 0;
    return found(carrier.streams.at(-1));
  },
  stream: () => found(carrier.streams.at(-1)),
  asked: (what) => carrier.of(actions[what]).length,
  whenAsked: (what, then) => {
    carrier.before = async ({ action }) => {
      if (action === actions[what]) await then();
    };
  },
  machine: (handle) => tellB(carrier, handle, 'call.machine.detection.ended', { result: 'machine' }),
  person: async (handle) => {
    await tellB(carrier, handle, 'call.answered');
    await tellB(carrier, handle, 'call.machine.detection.ended', { result: 'human' });
  },
  informed: async (handle) => {
    await carrier.until(() => carrier.of('speak').length > 0);
    await tellB(carrier, handle, 'call.speak.ended');
  },
});

const tellB = (carrier: FakeTelnyx, handle: string, type: string, more: object = {}): Promise<number> =>
  carrier.tell(type, {
    call_control_id: 'v3:leg',
    client_state: Buffer.from(`svc:leg:${handle}`).toString('base64'),
    ...more,
  });

function found(stream: Stream | undefined): Stream {
  if (stream === undefined) throw new Error('no stream');
  return stream;
}
