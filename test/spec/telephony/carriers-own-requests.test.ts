/** The requests that our adapters send are those that the carriers' own libraries send for the same: method, address, credentials and body. */
import Telnyx from 'telnyx';
import twilio from 'twilio';
import { expect, it } from 'vitest';
import { Sensitive } from '../../../shared/config/sensitive.ts';
import { TwilioControl } from '../../../supervisor/telephony/twilio/control.ts';
import { TelnyxControl } from '../../../supervisor/telephony/telnyx/control.ts';
import type { RestAnswer, RestRequest } from '../../../supervisor/telephony/rest.ts';

const capabilities = { transfer: true, warm: true, keys: true };
const sid = `AC${'0'.repeat(32)}`;
const [to, from] = ['+15550100077', '+15550100002'];

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly authorization: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What our adapter sends; `read` reads a body. The first of `answers` answer, then all is well. */
function newWire(read: (body: string) => Sent['body'], answers: RestAnswer[] = []) {
  const sent: Sent[] = [];
  const ask = ({ url, authorization, body, method }: RestRequest): Promise<RestAnswer> => {
    // A colon in a path may be written either way.
    sent.push({ method: method ?? 'POST', url: url.replaceAll('%3A', ':'), authorization, body: read(body) });
    const done = { sid: 'CA9', data: { id: 'c1', call_control_id: 'v3:leg' } };
    return Promise.resolve(answers.shift() ?? { kind: 'answered', status: 200, body: done });
  };
  return { sent, ask };
}

it('carrier A', async () => {
  const { sent, ask } = newWire((body) => Object.fromEntries(new URLSearchParams(body)));
  const account = {
    accountSid: sid,
    user: sid,
    password: new Sensitive('p'),
    apiUrl: 'https://api.twilio.com',
  };
  const settings = {
    ...{ addr: { host: '', port: 0 }, publicUrl: 'wss://v.example/carrier_a/stream', allowsStaticUrl: false },
    ...{ authToken: new Sensitive('p'), streamSecret: new Sensitive('s'.repeat(32)), resumesStream: true },
  };
  const ours = new TwilioControl({ ...settings, control: account }, account, {
    capabilities,
    ask,
    nowS: () => 0,
  });
  await ours.hangUp('CA1');
  await ours.transfer('CA1', { commandId: 'k', to, from });
  await ours.ring({ to, from, tag: 't', ringS: 30, acceptS: 120, commandId: 'k' });
  await ours.dial({ id: 'o', to, from, ringS: 30, detection: 'carrier' });
  await ours.park('CA1', { tag: 't' });
  await ours.join('CA9', { tag: 't', conference: '', text: 'Tom.', language: 'en-US', commandId: 'k' });
  await ours.putBack('CA1');
  await ours.pressKeys('CA1', { digits: '1#' });
  await ours.isOver('CA1');

  const theirs: Sent[] = [];
  const httpClient = {
    request: ({
      uri,
      username,
      password,
      data,
      method,
    }: Record<string, string> & { data: object | undefined }) => {
      const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
      const texts = Object.entries(data ?? {}).map(([name, value]) => [name, String(value)]);
      theirs.push({
        method: String(method).toUpperCase(),
        url: String(uri),
        authorization,
        body: Object.fromEntries(texts) as Sent['body'],
      });
      return Promise.resolve({ statusCode: 201, body: {} });
    },
  };
  const client = twilio(sid, 'p', { httpClient: httpClient as never });
  const event = (kind: string, tag: string): string => `https://v.example/carrier_a/events/${kind}/${tag}`;
  const common = { to, from, timeout: 30 };
  await client.calls('CA1').update({ status: 'completed' });
  await client.calls('CA1').update({ twiml: String(sent[1]?.body['Twiml']) });
  await client.calls.create({
    ...{ ...common, twiml: String(sent[2]?.body['Twiml']), statusCallback: event('leg', 't') },
    ...{ machineDetection: 'Enable', asyncAmd: 'true', asyncAmdStatusCallback: event('amd', 't') },
  });
  await client.calls.create({
    ...{ ...common, url: event('answered', 'o'), machineDetection: 'DetectMessageEnd' },
    statusCallback: event('call', 'o'),
  });
  for (const [index, call] of ['CA1', 'CA9', 'CA1', 'CA1'].entries())
    await client.calls(call).update({ twiml: String(sent[4 + index]?.body['Twiml']) });
  await client.calls('CA1').fetch();
  expect(sent).toEqual(theirs);
});

const callB = 'v3:a/b';
const apiUrlB = 'https://api.telnyx.com/v2';
const holdUrlB = 'https://voice.example.com/hold.mp3';

/** What our adapter of Telnyx sends for each command. */
async function oursOfB(): Promise<Sent[]> {
  const active = { kind: 'answered', status: 422, body: { errors: [{ code: '90045' }] } } as const;
  const { sent, ask } = newWire((body) => JSON.parse(body === '' ? '{}' : body) as Sent['body'], [active]);
  const [id, apiUrl] = [callB, apiUrlB];
  const account = {
    apiKey: new Sensitive('KEY'),
    apiUrl,
    publicKey: '',
    connectionId: 'conn',
    holdAudioUrl: holdUrlB,
  };
  const settings = { addr: { host: '', port: 0 }, publicUrl: 'wss://v.example/carrier_b/stream' };
  const ours = new TelnyxControl(
    { ...settings, streamToken: new Sensitive('token'), control: account },
    account,
    {
      capabilities,
      ask,
      nowS: () => 0,
      longestSummary: () => Promise.resolve(),
      asksForStream: () => () => undefined,
    },
  );
  await ours.transfer(id, { commandId: 'k2', to, from });
  await ours.hangUp(id, 'k1');
  await ours.pressKeys(id, { commandId: 'k3', digits: '1w#' });
  await ours.park(id, { tag: 't', commandId: 'k4' });
  await ours.ring({ to, from, tag: 't', ringS: 30, acceptS: 120, commandId: 'k5' });
  await ours.join('v3:leg', { tag: 't', conference: 'c1', text: '', language: 'en-US', commandId: 'k6' });
  await ours.startStream(id, { commandId: 'k7', parameters: { agent_route: 'sales' } });
  await ours.answer(id, 'svc:in:sales');
  await ours.reject(id);
  const outbound = {
    ...{ id: 'o', to, from, ringS: 30, language: 'en-US', text: 'Call us.' },
    detection: 'carrier' as const,
  };
  await ours.dial(outbound);
  await ours.say(id, outbound);
  await ours.join('v3:leg', {
    ...{ tag: 't', conference: 'c1', text: 'Tom.', language: 'en-US', commandId: 'k8' },
  });
  await ours.putBack(id, { conference: 'c1', tag: 't', commandId: 'k9' });
  await ours.putBack(id, { conference: '', tag: 't', commandId: 'k10' });
  await ours.isOver(id);
  return sent;
}

it('carrier B', async () => {
  const sent = await oursOfB();
  const [id, apiUrl] = [callB, apiUrlB];
  const theirs: Sent[] = [];
  const fetch = (url: unknown, init?: { headers?: unknown; body?: unknown; method?: string }) => {
    const authorization = new Headers(init?.headers as never).get('authorization') ?? '';
    const body = JSON.parse(typeof init?.body === 'string' ? init.body : '{}') as Sent['body'];
    // Brackets in a query may be written either way.
    const plain = String(url).replaceAll('%5B', '[').replaceAll('%5D', ']');
    theirs.push({ method: init?.method?.toUpperCase() ?? '', url: plain, authorization, body });
    return Promise.resolve(Response.json({ data: {} }));
  };
  const client = new Telnyx({ apiKey: 'KEY', baseURL: apiUrl, fetch: fetch, maxRetries: 0 });
  const { actions } = client.calls;
  const state = (text: string): string => Buffer.from(text).toString('base64');
  const leg = { target_leg_client_state: state(`svc:to:${id}`) };
  await actions.transfer(id, { to, from, timeout_secs: 30, command_id: 'k2', ...leg });
  await actions.stopStreaming(id, { command_id: 'k2s1' });
  await actions.transfer(id, { to, from, timeout_secs: 30, command_id: 'k2r1', ...leg });
  await actions.hangup(id, { command_id: 'k1' });
  await actions.sendDtmf(id, { digits: '1w#', duration_millis: 250, command_id: 'k3' });
  await client.conferences.create({
    ...{ call_control_id: id, name: 'svc-t', start_conference_on_create: false, beep_enabled: 'never' },
    ...{ hold_audio_url: holdUrlB, client_state: state('svc:caller:t'), command_id: 'k4' },
  });
  await client.calls.dial({
    ...{ connection_id: 'conn', to, from, timeout_secs: 30, answering_machine_detection: 'detect' },
    ...{ client_state: state('svc:leg:t'), command_id: 'k5' },
  });
  await client.conferences.actions.join('c1', {
    ...{ call_control_id: 'v3:leg', start_conference_on_enter: true, end_conference_on_exit: true },
    ...{ beep_enabled: 'never', command_id: 'k6' },
  });
  await actions.startStreaming(id, {
    ...{
      stream_url: String(sent[8]?.body['stream_url']),
      stream_track: 'inbound_track',
      stream_codec: 'PCMU',
    },
    ...{ stream_bidirectional_mode: 'rtp', stream_bidirectional_codec: 'PCMU' },
    ...{ stream_bidirectional_sampling_rate: 8_000, stream_auth_token: 'token', command_id: 'k7' },
    custom_parameters: [{ name: 'agent_route', value: 'sales' }],
  });
  const key = Buffer.from(id).toString('base64url');
  await actions.answer(id, { client_state: state('svc:in:sales'), command_id: `answer-${key}` });
  await actions.reject(id, { cause: 'USER_BUSY', command_id: `reject-${key}` });
  await client.calls.dial({
    ...{ connection_id: 'conn', to, from, timeout_secs: 30, answering_machine_detection: 'greeting_end' },
    ...{ client_state: state('svc:out:o'), command_id: 'out-o' },
  });
  const spoken = { voice: 'female', language: 'en-US' } as const;
  await actions.speak(id, { payload: 'Call us.', ...spoken, command_id: 'out-o-say' });
  await actions.speak('v3:leg', { payload: 'Tom.', ...spoken, command_id: 'k8s1' });
  await client.conferences.actions.join('c1', {
    ...{ call_control_id: 'v3:leg', start_conference_on_enter: true, end_conference_on_exit: true },
    ...{ beep_enabled: 'never', command_id: 'k8' },
  });
  await client.conferences.actions.leave('c1', { call_control_id: id, command_id: 'k9l1' });
  await actions.startStreaming(id, {
    ...(sent[16]?.body as { stream_url: string }),
    command_id: 'k9',
  });
  await client.conferences.list({ filter: { name: 'svc-t' } });
  await actions.startStreaming(id, {
    ...(sent[18]?.body as { stream_url: string }),
    command_id: 'k10',
  });
  await client.calls.retrieveStatus(id);
  expect(sent).toEqual(theirs);
});
