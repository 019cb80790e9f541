/** SIP between two supervisors: each message is taken once, by the process whose call it is about. */
import { describe, expect, it } from 'vitest';
import { sipToSuccessor, sipRelayed, type SipRelayed } from '../../../shared/sip/takeover.ts';
import { readToPredecessor, readToSuccessor } from '../../../shared/protocol/takeover.ts';
import { step } from '../../../shared/sip/agent/agent.ts';
import { newAgent, type AgentState, type Flow } from '../../../shared/sip/agent/state.ts';
import { parseDatagram } from '../../../shared/sip/message/parse.ts';
import { writeMessage } from '../../../shared/sip/message/write.ts';
import { OtherSupervisors } from '../../../supervisor/sip/takeover/other-supervisors.ts';
import type { Incoming } from '../../../supervisor/sip/takeover/relay.ts';

const udp: Flow = {
  ...{ connection: 0, protocol: 'UDP', source: { address: '192.0.2.1', port: 5060 } },
  local: { address: '198.51.100.7', port: 5060 },
};
const tls: Flow = { ...udp, connection: 5, protocol: 'TLS' };
const sdp =
  'v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n';

const request = (method: string, { id = 'c1', branch = '', toTag = '', cseq = 1, body = '' } = {}): Buffer =>
  Buffer.from(
    `${method} sip:100@198.51.100.7 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.1:5060;rport;branch=z9hG4bK${branch === '' ? id + method : branch}\r\nMax-Forwards: 70\r\nFrom: "A, <b>" <sip:1@192.0.2.1>;tag=f\r\nTo: <sip:100@198.51.100.7>${toTag === '' ? '' : `;tag=${toTag}`}\r\nCall-ID: ${id}\r\nCSeq: ${cseq} ${method}\r\nContact: <sip:1@192.0.2.1>\r\n${body === '' ? '' : 'Content-Type: application/sdp\r\n'}Content-Length: ${body.length}\r\n\r\n${body}`,
    'latin1',
  );

/** A supervisor: its agent, what it took, and what went out of its sockets. */
class Side {
  readonly state: AgentState;
  readonly others: OtherSupervisors;
  readonly taken: string[] = [];
  readonly sent: string[] = [];
  readonly failed: number[] = [];
  dropped = 0;
  readonly connections = new Set([5]);

  constructor(name: string) {
    let last = 0;
    this.state = newAgent({
      gate: { judge: () => undefined, knows: () => false },
      accountAt: () => undefined,
      rules: { srtp: 'optional', codecs: ['PCMU'] },
      newToken: () => `${name}${(last += 1)}`,
      newKey: () => '',
      newSessionId: () => 7,
      isClosed: () => false,
      mostTransactions: 1_000,
    });
    this.others = new OtherSupervisors({
      state: this.state,
      received: (incoming, from) => this.take(incoming, from),
      failed: (connection) => void this.failed.push(connection),
      full: () => (this.dropped += 1),
      send: (connection, bytes) => this.#over(connection, bytes),
    });
  }

  #over(connection: number, bytes: Buffer): boolean {
    const isThere = this.connections.has(connection);
    if (isThere) this.sent.push(`${connection} ${bytes.toString().split('\r\n', 1)[0]}`);
    return isThere;
  }

  arrives(bytes: Buffer, flow: Flow = udp): void {
    const parsed = parseDatagram(bytes);
    if (parsed.ok) this.take({ parsed: parsed.value, flow, size: bytes.length });
  }

  take(incoming: Incoming, from?: 'before' | 'after' | 'held'): void {
    if (this.others.takes(incoming, from)) return;
    const { message, fault } = incoming.parsed;
    this.taken.push(message.kind === 'request' ? message.method : String(message.status));
    const { flow, size } = incoming;
    for (const action of step(this.state, { type: 'message.received', message, fault, flow, size }, 0)) {
      if (action.type === 'call.offered')
        step(
          this.state,
          { type: 'call.accepted', call: action.call, local: { ...udp.local, port: 1 } },
          0,
        ).forEach((one) => one.type === 'send' && this.#send(one.flow, one.bytes));
      if (action.type === 'send') this.#send(action.flow, action.bytes);
    }
  }

  #send(flow: Flow, bytes: Buffer): void {
    if (flow.protocol === 'UDP') this.sent.push(`udp ${bytes.toString().split('\r\n', 1)[0]}`);
    else if (!this.#over(flow.connection, bytes)) this.others.send(flow.connection, bytes);
  }
}

/** Messages go through the declarations, as they do between processes. */
function joined(old: Side, fresh: Side): void {
  fresh.others.follow((message) => {
    const read = readToPredecessor(JSON.parse(JSON.stringify(message)));
    expect(read.ok).toBe(true);
    if (read.ok) old.others.afterSaid(read.value as SipRelayed);
  });
  const keys = old.others.give((message) => {
    const read = readToSuccessor(JSON.parse(JSON.stringify(message)));
    expect(read.ok).toBe(true);
    if (read.ok) fresh.others.beforeSaid(read.value as SipRelayed);
  });
  fresh.others.know(keys);
}

function restart(): { old: Side; fresh: Side; tag: string } {
  const [old, fresh] = [new Side('old'), new Side('new')];
  old.connections.add(6);
  fresh.connections.delete(5);
  old.arrives(request('INVITE', { body: sdp }));
  const [call] = old.state.calls.values();
  joined(old, fresh);
  old.others.leave();
  old.sent.length = 0;
  return { old, fresh, tag: call!.localTag };
}

describe('SIP during a restart', () => {
  it('counts what it drops while too many messages wait for the old supervisor to let go', () => {
    const old = new Side('old');
    old.others.give(() => undefined);
    for (let count = 0; count < 1_024 + 3; count += 1)
      old.arrives(request('OPTIONS', { branch: `b${count}` }));
    expect(old.dropped).toBe(3);
  });

  it('takes what is about a call of the old supervisor there, whatever process it reaches', () => {
    const { old, fresh, tag } = restart();
    fresh.arrives(request('ACK', { toTag: tag, branch: 'x' }));
    fresh.arrives(request('OPTIONS', { toTag: tag, cseq: 2 }));
    fresh.arrives(request('BYE', { toTag: tag, cseq: 3 }));
    expect(fresh.taken).toEqual([]);
    expect(old.taken).toEqual(['INVITE', 'ACK', 'OPTIONS', 'BYE']);
    expect(old.sent).toEqual(['udp SIP/2.0 200 OK', 'udp SIP/2.0 200 OK']);
    expect(old.state.calls.size).toBe(0);
  });

  it('takes an INVITE that is repeated, and its CANCEL, where it was taken first', () => {
    const { old, fresh } = restart();
    fresh.arrives(request('INVITE', { body: sdp }));
    fresh.arrives(request('CANCEL', { branch: 'c1INVITE' }));
    expect([fresh.taken, fresh.state.calls.size]).toEqual([[], 0]);
    expect(old.taken).toEqual(['INVITE', 'INVITE', 'CANCEL']);
  });

  it('takes a new call in the new process, also from a connection that the old one has', () => {
    const { old, fresh } = restart();
    old.arrives(request('INVITE', { id: 'c2', body: sdp }), tls);
    expect(old.taken).toEqual(['INVITE']);
    expect(fresh.taken).toEqual(['INVITE']);
    expect(old.sent).toEqual(['5 SIP/2.0 100 Trying', '5 SIP/2.0 200 OK']);
    const [call] = fresh.state.calls.values();
    old.arrives(request('ACK', { id: 'c2', toTag: call!.localTag, branch: 'y' }), tls);
    expect(fresh.taken).toEqual(['INVITE', 'ACK']);
    expect(old.others.needs(5)).toBe(true);
  });

  it('answers over a connection of the new process what belongs to the old one', () => {
    const { old, fresh, tag } = restart();
    fresh.connections.add(9);
    fresh.arrives(request('OPTIONS', { toTag: tag, cseq: 2 }), { ...tls, connection: 9 });
    expect(old.taken.at(-1)).toBe('OPTIONS');
    expect(fresh.sent).toEqual(['9 SIP/2.0 200 OK']);
  });

  it('lets what begins a call wait while sockets change hands, and takes it itself where that fails', () => {
    const [old, fresh] = [new Side('old'), new Side('new')];
    joined(old, fresh);
    old.arrives(request('INVITE', { body: sdp }), tls);
    expect([...old.taken, ...fresh.taken]).toEqual([]);
    old.others.takeBack();
    expect([old.taken, fresh.taken]).toEqual([['INVITE'], []]);
    const [older, newer] = [new Side('old'), new Side('new')];
    joined(older, newer);
    older.arrives(request('INVITE', { body: sdp }), tls);
    older.others.leave();
    expect([older.taken, newer.taken]).toEqual([[], ['INVITE']]);
  });

  it('lets go of connections that are gone, on either side', () => {
    const { old, fresh } = restart();
    old.arrives(request('INVITE', { id: 'c2', body: sdp }), tls);
    const [call] = fresh.state.calls.values();
    old.connections.delete(5);
    old.others.closed(5);
    expect(fresh.failed).toEqual([call!.flow.connection]);
    expect(fresh.others.send(call!.flow.connection, Buffer.from('x'))).toBe(false);
    old.arrives(request('INVITE', { id: 'c3', body: sdp }), { ...tls, connection: 6 });
    fresh.others.beforeGone();
    expect(fresh.failed.length).toBe(2);
  });

  it('says that a call is unknown once the old process is gone', () => {
    const { fresh, tag } = restart();
    fresh.others.beforeGone();
    fresh.arrives(request('OPTIONS', { toTag: tag, cseq: 2 }));
    expect(fresh.sent).toEqual(['udp SIP/2.0 481 Call/Transaction Does Not Exist']);
  });

  it('goes on through a second restart while the first supervisor still has calls', () => {
    const { old, fresh, tag } = restart();
    const newest = new Side('newest');
    joined(fresh, newest);
    fresh.others.leave();
    newest.arrives(request('OPTIONS', { toTag: tag, cseq: 2 }));
    newest.arrives(request('INVITE', { body: sdp }));
    expect(old.taken).toEqual(['INVITE', 'OPTIONS', 'INVITE']);
    old.arrives(request('INVITE', { id: 'c2', body: sdp }), tls);
    expect(newest.taken).toEqual(['INVITE']);
    expect(old.sent.slice(-2)).toEqual(['5 SIP/2.0 100 Trying', '5 SIP/2.0 200 OK']);
  });

  it('finds a call of the first supervisor also from a connection that its peer has made to the second', () => {
    const { old, fresh, tag } = restart();
    const again = { ...tls, connection: 7 };
    fresh.connections.add(7);
    const newest = new Side('newest');
    joined(fresh, newest);
    fresh.others.leave();
    fresh.arrives(request('OPTIONS', { toTag: tag, cseq: 2 }), again);
    expect([old.taken.at(-1), newest.taken]).toEqual(['OPTIONS', []]);
    expect(fresh.sent).toEqual(['7 SIP/2.0 200 OK']);
    fresh.arrives(request('OPTIONS', { id: 'c9', toTag: 'nobodys' }), again);
    expect(fresh.sent.at(-1)).toBe('7 SIP/2.0 481 Call/Transaction Does Not Exist');
  });

  it('passes messages as they are', () => {
    const bytes = request('INVITE', { body: sdp });
    const once = parseDatagram(bytes);
    const again = once.ok && parseDatagram(writeMessage(once.value.message));
    expect(again && again.ok && again.value.message.body.toString()).toBe(sdp);
    const headers = (of: typeof once): unknown =>
      of.ok && of.value.message.headers.map(({ name, value }) => `${name}: ${value}`).toSorted();
    expect(again && headers(again)).toEqual(headers(once));
    expect(sipToSuccessor.length).toBeGreaterThan(sipRelayed.length);
  });
});
