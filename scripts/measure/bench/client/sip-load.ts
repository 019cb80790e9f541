/**
 * Many telephones for the bench: one socket for SIP, one for the audio of each call, and one clock that sends everybody's frames. What
 * each call hears is counted as it arrives. It knows as much of SIP as a caller needs that calls and hangs up.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Distribution, type Summary } from '../report/statistics.ts';
import type { Voices } from './speech.ts';

const host = '127.0.0.1';
const frameMs = 20;
const tickMs = 10;
const repeatMs = 500;
const answerLimitMs = 20_000;
/** Between two stretches of speech. */
const silentFrames = 250;

interface Heard {
  packets: number;
  lost: number;
  longestGapMs: number;
  lastAt: number;
  sequence: number | undefined;
}

interface Phone {
  readonly id: string;
  readonly rtp: Socket;
  readonly askedAt: number;
  answeredAt: number | undefined;
  toTag: string;
  remotePort: number;
  sent: number;
  readonly offset: number;
  readonly heard: Heard;
  /** The last final answer to anything. */
  status: number;
  isOver: boolean;
}

export interface SipHeard {
  readonly open: number;
  readonly packets: number;
  readonly lost: number;
  /** Longest time without a packet, of each call. */
  readonly gaps: Summary;
  /** Calls whose longest time without a packet stayed under a second. */
  readonly unbroken: number;
}

const field = (text: string, name: string): string =>
  new RegExp(`^${name}:\\s*(.*?)\\r?$`, 'im').exec(text)?.[1] ?? '';

export class SipLoad {
  readonly #sip: Socket;
  readonly #server: number;
  readonly #voices: Voices;
  readonly #phones = new Map<string, Phone>();
  readonly setups = new Distribution();
  /** Final answers to INVITE by status; 0 stands for none. */
  readonly answers: Record<number, number> = {};
  #timer: NodeJS.Timeout | undefined;
  #startedAt = 0;

  private constructor(sip: Socket, server: number, voices: Voices) {
    this.#sip = sip;
    this.#server = server;
    this.#voices = voices;
    sip.on('message', (bytes) => this.#message(bytes.toString('latin1')));
  }

  static async open(server: number, voices: Voices): Promise<SipLoad> {
    const load = new SipLoad(await bound(), server, voices);
    load.#startedAt = performance.now();
    load.#timer = setInterval(() => load.#tick(), tickMs);
    return load;
  }

  /** Calls at a rate; resolves when all have their answer. */
  async call(calls: number, perSecond: number): Promise<void> {
    const startedAt = performance.now();
    const asked: Promise<void>[] = [];
    for (let index = 0; index < calls; index += 1) {
      await sleep(Math.max(0, startedAt + (index * 1000) / perSecond - performance.now()));
      asked.push(this.#callOnce());
    }
    await Promise.all(asked);
  }

  async #callOnce(): Promise<void> {
    const rtp = await bound();
    const now = performance.now();
    const heard = { packets: 0, lost: 0, longestGapMs: 0, lastAt: now, sequence: undefined };
    const id = `${this.#phones.size}-${Math.round(now)}`;
    const phone: Phone = {
      id,
      rtp,
      heard,
      askedAt: now,
      answeredAt: undefined,
      toTag: '',
      remotePort: 0,
      sent: 0,
      offset: (this.#phones.size * 37) % silentFrames,
      status: 0,
      isOver: false,
    };
    this.#phones.set(id, phone);
    rtp.on('message', (bytes) => hear(phone.heard, bytes));
    const sdp = `v=0\r\no=- 1 1 IN IP4 ${host}\r\ns=-\r\nc=IN IP4 ${host}\r\nt=0 0\r\nm=audio ${rtp.address().port} RTP/AVP 0\r\n`;
    for (let waited = 0; phone.status === 0 && waited < answerLimitMs; waited += repeatMs) {
      this.#ask(phone, 'INVITE', 1, sdp);
      for (let slept = 0; slept < repeatMs && phone.status === 0; slept += tickMs) await sleep(tickMs);
    }
    this.answers[phone.status] = (this.answers[phone.status] ?? 0) + 1;
  }

  #ask(phone: Phone, method: string, cseq: number, body = ''): void {
    const to = phone.toTag === '' ? '' : `;tag=${phone.toTag}`;
    const { port } = this.#sip.address();
    const text = [
      `${method} sip:agent@${host}:${this.#server} SIP/2.0`,
      `Via: SIP/2.0/UDP ${host}:${port};rport;branch=z9hG4bK${phone.id}${method}`,
      'Max-Forwards: 70',
      `From: <sip:bench@${host}>;tag=${phone.id}`,
      `To: <sip:agent@${host}>${to}`,
      `Call-ID: ${phone.id}`,
      `CSeq: ${cseq} ${method}`,
      `Contact: <sip:bench@${host}:${port}>`,
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n');
    this.#sip.send(text, this.#server, host);
  }

  #message(text: string): void {
    const phone = this.#phones.get(field(text, 'Call-ID'));
    if (phone === undefined) return;
    const status = Number(/^SIP\/2\.0 (\d{3})/.exec(text)?.[1] ?? 0);
    if (status === 0) this.#asked(phone, text);
    else if (status >= 200 && field(text, 'CSeq').endsWith('INVITE')) this.#answered(phone, status, text);
    else if (status >= 200 && field(text, 'CSeq').endsWith('BYE')) phone.isOver = true;
  }

  /** The service hangs up. */
  #asked(phone: Phone, text: string): void {
    phone.isOver = true;
    const same = ['Via', 'From', 'To', 'Call-ID', 'CSeq'].map((name) => `${name}: ${field(text, name)}\r\n`);
    this.#sip.send(`SIP/2.0 200 OK\r\n${same.join('')}Content-Length: 0\r\n\r\n`, this.#server, host);
  }

  #answered(phone: Phone, status: number, text: string): void {
    if (phone.answeredAt === undefined) this.setups.add(performance.now() - phone.askedAt);
    phone.answeredAt ??= performance.now();
    phone.status = status;
    phone.toTag = /;tag=([^;\s]+)/.exec(field(text, 'To'))?.[1] ?? '';
    phone.remotePort = Number(/m=audio (\d+)/.exec(text)?.[1] ?? 0);
    phone.heard.lastAt = performance.now();
    this.#ask(phone, 'ACK', 1);
  }

  #tick(): void {
    const due = Math.floor((performance.now() - this.#startedAt) / frameMs);
    for (const phone of this.#phones.values()) {
      if (phone.remotePort === 0 || phone.isOver) continue;
      if (phone.sent === 0) phone.sent = due - 1;
      for (; phone.sent < due; phone.sent += 1) this.#packet(phone);
    }
  }

  #packet(phone: Phone): void {
    const { clips, silence } = this.#voices;
    const at = phone.sent + phone.offset;
    const clip = clips[(phone.offset + Math.floor(at / (2 * silentFrames))) % clips.length] ?? [];
    const payload = clip[at % (2 * silentFrames)] ?? silence[at % silence.length] ?? Buffer.alloc(160, 255);
    const packet = Buffer.alloc(12 + payload.length);
    packet[0] = 0x80;
    packet.writeUInt16BE(phone.sent & 0xffff, 2);
    packet.writeUInt32BE((phone.sent * 160) >>> 0, 4);
    packet.writeUInt32BE(phone.offset + 1, 8);
    packet.set(payload, 12);
    phone.rtp.send(packet, phone.remotePort, host);
  }

  /** Forgets what was heard so far. */
  begin(): void {
    for (const { heard } of this.#phones.values())
      Object.assign(heard, { packets: 0, lost: 0, longestGapMs: 0, lastAt: performance.now() });
  }

  /** What was heard since. */
  end(): SipHeard {
    const gaps = new Distribution();
    const open = [...this.#phones.values()].filter((phone) => phone.status === 200 && !phone.isOver);
    let [packets, lost, unbroken] = [0, 0, 0];
    for (const { heard } of open) {
      const longest = Math.max(heard.longestGapMs, performance.now() - heard.lastAt);
      gaps.add(longest);
      packets += heard.packets;
      lost += heard.lost;
      if (longest < 1_000) unbroken += 1;
    }
    return { open: open.length, packets, lost, gaps: gaps.summary(), unbroken };
  }

  /** Hangs up on all. Resolves with how many have said that it is over. */
  async hangUp(): Promise<number> {
    const open = [...this.#phones.values()].filter((phone) => phone.status === 200 && !phone.isOver);
    for (let tries = 0; tries < 10 && open.some(({ isOver }) => !isOver); tries += 1) {
      for (const phone of open) if (!phone.isOver) this.#ask(phone, 'BYE', 2);
      await sleep(repeatMs);
    }
    return open.filter(({ isOver }) => isOver).length;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#sip.close();
    for (const { rtp } of this.#phones.values()) rtp.close();
  }
}

async function bound(): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 256 * 1024 }).bind(0, host);
  await once(socket, 'listening');
  return socket;
}

/** Second byte of RTCP; that of RTP with PCMU is 0 or 128. */
const leastReport = 200;

function hear(heard: Heard, bytes: Buffer): void {
  // A keep-alive is no audio, nor is a report: it comes to the next port, which may be that of another phone.
  if (bytes.length < 12 || (bytes[1] ?? 0) >= leastReport) return;
  const now = performance.now();
  const sequence = bytes.readUInt16BE(2);
  if (heard.sequence !== undefined) heard.lost += Math.max(0, ((sequence - heard.sequence) & 0xffff) - 1);
  heard.sequence = sequence;
  heard.packets += 1;
  heard.longestGapMs = Math.max(heard.longestGapMs, now - heard.lastAt);
  heard.lastAt = now;
}
