/** SIP with `sipp` as the called party: calls that the service makes, callers who are handed on, and keys that go as messages. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answer, sayAndCall } from '../support/fakes/fake-chat.ts';
import { TestService } from '../support/process/service.ts';
import { restarted, stopAll, stopped } from '../support/process/succession.ts';
import { hear, pause, receive, reply, runSipp, sendBack, sippMissing } from '../support/sip/sipp.ts';

/** Where the trunk is. */
const trunk = 20_000 - 2 * (1 + (process.pid % 400));
const secret = 'o'.repeat(32);
const account = { user: 'alice', password: 's3cret' };

const sdp =
  'v=0\no=sipp 1 1 IN IP4 [local_ip]\ns=-\nc=IN IP4 [local_ip]\nt=0 0\nm=audio 6000 RTP/AVP 0\na=rtpmap:0 PCMU/8000';
const answered = [reply(180), reply(200, { body: sdp }), hear('ACK')];
const invited = hear('INVITE', { has: 'm=audio [0-9]+ RTP/AVP 9 0 8 101' });
const challenge = (name: string): string =>
  `${name}: Digest realm="trunk", nonce="4f2a", algorithm=MD5, qop="auth"`;
const signed = hear('INVITE', { signedBy: account });
const unsigned = (status: number, name: string): string[] => [
  hear('INVITE'),
  reply(status, { headers: [challenge(name)] }),
  hear('ACK'),
];
const ended = [hear('BYE'), reply(200)];
const refer = (status: string): string[] => [
  hear('REFER', { has: 'Refer-To: <sip:\\+15550100077@127.0.0.1:' }),
  reply(202),
  sendBack('NOTIFY', {
    cseq: 20,
    headers: ['Event: refer', 'Subscription-State: terminated;reason=noresource'],
    ...{ type: 'message/sipfrag', body: `SIP/2.0 ${status}` },
  }),
  receive(200),
];

type Fields = Readonly<Record<string, unknown>>;

/** Levels of log lines. */
const info = 30;
const warning = 40;

describe.skipIf(sippMissing !== undefined)(
  `sipp as whoever is called${sippMissing === undefined ? '' : ` (${sippMissing})`}`,
  () => {
    let service: TestService;
    let last = 10;

    beforeAll(async () => {
      service = await TestService.start({
        workers: 2,
        greeting: 'Hello {{metadata.name | you}}.',
        turn: '[telephony.destinations]\nsales = "+15550100077"\n',
        env: {
          ...{ SVC_SIP_ADDR: '127.0.0.1:0', SVC_SIP_RTP_PORTS: '37000-37998', SVC_SIP_REFER: 'on' },
          ...{ SVC_SIP_TRUNK: `sip:alice@127.0.0.1:${trunk}`, SVC_SIP_TRUNK_PASSWORD: account.password },
          ...{ SVC_CALLBACK_ADDR: '127.0.0.1:0', SVC_CALLBACK_SECRET: secret, SVC_DRAIN_TIMEOUT: '60s' },
          ...{ SVC_OUTBOUND_FROM: '+15550100002', SVC_OUTBOUND_ALLOW: '+1555' },
        },
      });
    });
    afterAll(async () => {
      await stopAll(service);
    });

    const sip = (): number =>
      Number(
        String(service.said('listening', (line) => line['listener'] === 'sip')?.['address'])
          .split(':')
          .at(-1),
      );
    const called = (steps: readonly string[]): Promise<string | undefined> =>
      runSipp(steps, { port: sip(), at: trunk });

    async function ask(path: string, method = 'GET', body?: Fields): Promise<Fields> {
      const response = await fetch(`http://${service.address('callback')}${path}`, {
        method,
        headers: { authorization: `Bearer ${secret}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return (await response.json()) as Fields;
    }

    const make = async (more: Fields = {}): Promise<string> =>
      String((await ask('/calls', 'POST', { to: `+155501000${(last += 1)}`, ...more }))['id']);
    const moved = async (id: string, phase: string): Promise<Fields> =>
      await service.says(
        'an outbound call has moved',
        (line) => line['outbound'] === id && line['phase'] === phase,
      );

    it.each<[string, readonly string[], string]>([
      [
        'answers, hears the agent and hangs up',
        [invited, ...answered, pause(300), sendBack('BYE', { cseq: 2 }), receive(200)],
        'talked',
      ],
      ['is busy', [invited, reply(180), reply(486), hear('ACK')], 'busy'],
      ['declines', [invited, reply(603), hear('ACK')], 'busy'],
      [
        'has another address',
        [invited, reply(302, { headers: ['Contact: <sip:b@192.0.2.1>'] }), hear('ACK')],
        'failed',
      ],
      [
        'wants to know who calls',
        [
          ...unsigned(407, 'Proxy-Authenticate'),
          signed,
          ...answered,
          sendBack('BYE', { cseq: 2 }),
          receive(200),
        ],
        'talked',
      ],
      [
        'does not believe it',
        [...unsigned(401, 'WWW-Authenticate'), ...unsigned(401, 'WWW-Authenticate')],
        'failed',
      ],
      [
        'knows no codec of it',
        [invited, reply(200, { body: sdp.replace('AVP 0', 'AVP 18') }), hear('ACK'), ...ended],
        'failed',
      ],
    ])('that %s', async (_name, steps, end) => {
      const run = called(steps);
      const id = await make();
      expect(await run).toBeUndefined();
      expect(await moved(id, 'over')).toMatchObject({ end });
      if (end === 'talked') return;
      const why = service.said('a call by SIP was not answered', (line) => line['outbound'] === id);
      expect(why?.['level']).toBe(end === 'failed' ? warning : info);
    });

    it('that the service listens to: who says nothing is taken for a person, and greeted', async () => {
      const run = called([invited, ...answered, pause(4_500), sendBack('BYE', { cseq: 2 }), receive(200)]);
      const id = await make({ machine_detection: 'own', voicemail: 'Please call us.' });
      await moved(id, 'listening');
      await moved(id, 'person');
      expect(await run).toBeUndefined();
      expect(await moved(id, 'over')).toMatchObject({ end: 'talked' });
      const refused = { to: '+15550100099', machine_detection: 'carrier' };
      expect((await ask('/calls', 'POST', refused))['code']).toBe('detection');
    });

    it('that rings while the supervisor is replaced is answered all the same', async () => {
      const run = called([
        ...[invited, reply(180), pause(6_000), reply(200, { body: sdp }), hear('ACK'), pause(500)],
        ...[sendBack('BYE', { cseq: 2 }), receive(200)],
      ]);
      const id = await make();
      await moved(id, 'ringing');
      const [old] = await restarted(service);
      expect(await moved(id, 'person')).toMatchObject({ pid: old });
      expect(await run).toBeUndefined();
      expect(await moved(id, 'over')).toMatchObject({ end: 'talked' });
      await stopped(service, old);
    });

    it('that rings for the time that was asked for is taken back', async () => {
      const run = called([
        invited,
        reply(180),
        hear('CANCEL'),
        reply(200),
        reply(487).replace('[last_CSeq:]', 'CSeq: 1 INVITE'),
        hear('ACK'),
      ]);
      const id = await make({ ring_s: 5 });
      expect(await run).toBeUndefined();
      expect(await moved(id, 'over')).toMatchObject({ end: 'no_answer' });
    });

    it('talks with the agent, which is told what the call was asked for with, and is ended by the operator', async () => {
      const run = called([invited, ...answered, ...ended]);
      const id = await make({ metadata: { name: 'Ada', 'session.transport': 'carrier_a' } });
      await moved(id, 'person');
      const { tts } = service.providers;
      await tts.until(() => tts.inputs.join(' ').includes('Hello Ada.'));
      await ask(`/calls/${id}/hang_up`, 'POST');
      expect(await run).toBeUndefined();
    });

    /** A call in which the callee presses keys, upon which the model does what its script says. */
    const pressed = (...steps: readonly string[]): string[] => [
      ...[invited, ...answered],
      ...['7', '#'].flatMap((key, index) => [
        sendBack('INFO', { cseq: 10 + index, type: 'application/dtmf-relay', body: `Signal=${key}` }),
        receive(200),
      ]),
      ...steps,
    ];
    /** What the model is told of its tool in the call that is made next. */
    const toolResult = async (make: () => Promise<string>): Promise<{ id: string; told: string }> => {
      const { llm } = service.providers;
      const before = llm.requests.length;
      const id = await make();
      await llm.until(() => llm.requests.length > before + 1);
      return { id, told: JSON.stringify(llm.requests.at(-1)?.body['messages']) };
    };

    it('that is handed on is hung up on when somebody else has answered', async () => {
      service.providers.llm.script.push(sayAndCall('One moment.', 'transfer_call', { destination: 'sales' }));
      const run = called(pressed(...refer('200 OK'), ...ended));
      const id = await make();
      expect(await run).toBeUndefined();
      await moved(id, 'over');
    });

    it('that nobody takes when it is handed on stays with the agent, which is told', async () => {
      service.providers.llm.script.push(
        sayAndCall('One moment.', 'transfer_call', { destination: 'sales' }),
        answer('Sorry.'),
      );
      const run = called(pressed(...refer('486 Busy Here'), ...ended));
      const { id, told } = await toolResult(make);
      expect(told).toContain('the transfer was not made (rejected)');
      await ask(`/calls/${id}/hang_up`, 'POST');
      expect(await run).toBeUndefined();
    });

    it('gets keys as messages where it takes none with the audio', async () => {
      service.providers.llm.script.push(sayAndCall('', 'send_dtmf', { digits: '1#' }), answer('Done.'));
      const keys = ['1', '#'].flatMap((key) => [hear('INFO', { has: `Signal=${key}` }), reply(200)]);
      const run = called(pressed(...keys, ...ended));
      const { id, told } = await toolResult(make);
      expect(told).toContain('sent');
      await ask(`/calls/${id}/hang_up`, 'POST');
      expect(await run).toBeUndefined();
    });

    it('refuses numbers that nobody allowed, and messages for machines', async () => {
      const to = { to: '+4420790000', carrier: 'sip' };
      expect(await ask('/calls', 'POST', to)).toMatchObject({ code: 'not_allowed' });
      expect(await ask('/calls', 'POST', { ...to, voicemail: 'Hi.' })).toMatchObject({ code: 'voicemail' });
    });
  },
);
