/**
 * The messages of RFC 4475, written by hand from what the RFC says of each, with what an agent that is called has to say to it. Requests
 * for others are answered as a callee answers them: this side is nobody's proxy or registrar.
 */

export interface Torture {
  /** Section and short name. */
  readonly name: string;
  readonly text: string;
  /** Status of the answer; `none` where nothing may be said. */
  readonly answer: number | 'none';
}

const sdp = [
  'v=0',
  'o=mhandley 29739 7272939 IN IP4 192.0.2.3',
  's=-',
  'c=IN IP4 192.0.2.4',
  't=0 0',
  'm=audio 49217 RTP/AVP 0 12',
  'a=rtpmap:31 LPC',
  '',
].join('\r\n');

interface Parts {
  readonly line?: string;
  readonly via?: string;
  readonly from?: string;
  readonly to?: string;
  readonly cseq?: string;
  readonly contact?: string;
  readonly more?: readonly string[];
  readonly body?: string;
  readonly length?: number | string | undefined;
  readonly forwards?: string;
}

/** A request as the RFC's examples have it, with what is odd about it put in. */
function message(method: string, name: string, parts: Parts = {}): string {
  const { more = [], body = method === 'INVITE' ? sdp : '' } = parts;
  const length = 'length' in parts ? parts.length : body.length;
  return [
    parts.line ?? `${method} sip:user@example.com SIP/2.0`,
    `Via: ${parts.via ?? `SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK${name}`}`,
    `Max-Forwards: ${parts.forwards ?? '70'}`,
    `From: ${parts.from ?? '<sip:caller@example.net>;tag=242etr'}`,
    `To: ${parts.to ?? '<sip:user@example.com>'}`,
    `Call-ID: ${name}.0ha0isndaksdj@192.0.2.1`,
    `CSeq: ${parts.cseq ?? `8 ${method}`}`,
    ...(parts.contact === '' ? [] : [`Contact: ${parts.contact ?? '<sip:caller@host5.example.net>'}`]),
    ...more,
    ...(body === '' || more.some((header) => /^(c|content-type)\s*:/i.test(header))
      ? []
      : ['Content-Type: application/sdp']),
    ...(length === undefined ? [] : [`Content-Length: ${length}`]),
    '',
    body,
  ].join('\r\n');
}

/** 3.1.1.1: white space wherever the grammar allows it. */
const wsinv = [
  'INVITE sip:vivekg@chair-dnrc.example.com;unknownparam SIP/2.0',
  'TO :',
  ' sip:vivekg@chair-dnrc.example.com ;   tag    = 1918181833n',
  'from   : "J Rosenberg \\\\\\""       <sip:jdrosen@example.com>',
  '  ;',
  '  tag = 98asjd8',
  'MaX-fOrWaRdS: 0068',
  'Call-ID: wsinv.ndaksdj@192.0.2.1',
  `Content-Length   : ${sdp.length}`,
  'cseq: 0009',
  '  INVITE',
  'Via  : SIP  /   2.0',
  ' /UDP',
  '    192.0.2.2;branch=390skdjuw',
  's :',
  'NewFangledHeader:   newfangled value',
  ' continued newfangled value',
  'UnknownHeaderWithUnusualValue: ;;,,;;,;',
  'Content-Type: application/sdp',
  'Route:',
  ' <sip:services.example.com;lr;unknownwith=value;unknown-no-value>',
  'v:  SIP  / 2.0  / TCP     spindle.example.com   ;',
  '  branch  =   z9hG4bK9ikj8  ,',
  ' SIP  /    2.0   / UDP  192.168.255.111   ; branch=',
  ' z9hG4bK30239',
  'm:"Quoted string \\"\\"" <sip:jdrosen@example.com> ; newparam =',
  '      newvalue ;',
  '  secondparam ; q = 0.33',
  '',
  sdp,
].join('\r\n');

const oddMethod = "!interesting-Method0123456789_*+`.%indeed'~";
const oddName = '"BEL:\x07 NUL:\x00 DEL:\x7f"';
const long = (what: string, times: number): string => what.repeat(times);

const multipart = [
  '--7a9cbec02ceef655',
  'Content-Type: text/plain',
  '',
  'Hello',
  '--7a9cbec02ceef655',
  'Content-Type: application/octet-stream',
  '',
  '\x30\x82\x01\x52\x06\x09',
  '--7a9cbec02ceef655--',
  '',
].join('\r\n');

/** 3.1.1: valid messages. A second one in the same datagram is no message (dblreq). */
const valid: readonly Torture[] = [
  { name: '3.1.1.1 wsinv, within a dialog that is none of ours', text: wsinv, answer: 481 },
  {
    name: '3.1.1.1 wsinv, as a first request',
    text: wsinv.replace(' ;   tag    = 1918181833n', ''),
    answer: 100,
  },
  {
    name: '3.1.1.2 intmeth',
    text: message(oddMethod, 'intmeth', {
      line: `${oddMethod} sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*:&it+has=1,weird!*pas$wo~d_too.(doesn't-it)@example.com SIP/2.0`,
      to: `${oddName} <sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*@example.com>`,
      from: `token1~\` token2'+_ token3*%!.- <sip:mundane@example.com>;fromParam''~+*_!.-%="\xd1\x80\xd0\xb0";tag=_token~1'+\`*%!-.`,
      more: ["extensionHeader-!.%*+_`'~: \ufeff".replace('\ufeff', 'x')],
    }),
    answer: 405,
  },
  {
    name: '3.1.1.3 esc01',
    text: message('INVITE', 'esc01', {
      line: 'INVITE sip:sips%3Auser%40example.com@example.net SIP/2.0',
      to: 'sip:%75se%72@example.com',
      from: '<sip:I%20have%20spaces@example.net>;tag=938',
      contact: '<sip:cal%6Cer@host5.example.net;%6C%72;n%61me=v%61lue%25%34%31>',
    }),
    answer: 100,
  },
  {
    name: '3.1.1.4 escnull',
    text: message('REGISTER', 'escnull', {
      line: 'REGISTER sip:example.com SIP/2.0',
      to: 'sip:null-%00-null@example.com',
      from: 'sip:null-%00-null@example.com;tag=839923423',
      contact: '<sip:%00@host5.example.com>',
    }),
    answer: 405,
  },
  {
    name: '3.1.1.5 esc02',
    text: message('RE%47IST%45R', 'esc02', { line: 'RE%47IST%45R sip:registrar.example.com SIP/2.0' }),
    answer: 405,
  },
  {
    name: '3.1.1.6 lwsdisp',
    text: message('OPTIONS', 'lwsdisp', { from: 'caller<sip:caller@example.com>;tag=323' }),
    answer: 200,
  },
  {
    name: '3.1.1.7 longreq',
    text: message('INVITE', 'longreq', {
      to: `"I have a user name of ${long('extreme', 10)} proportion"<sip:user@example.com:6000;unknownparam1=very${long('long', 20)}value;longparam${long('name', 25)}=shortvalue>`,
      from: `sip:${long('amazinglylongcallername', 5)}@example.net;tag=12${long('982', 50)}424;unknownheaderparam${long('name', 20)}=unknowheaderparam${long('value', 15)}`,
      more: [
        `Unknown-${long('Long', 20)}-Name: unknown-${long('long', 20)}-value`,
        ...Array.from({ length: 33 }, (_, i) => `v: SIP/2.0/TCP sip${34 - i}.example.com`),
      ],
    }),
    answer: 100,
  },
  {
    name: '3.1.1.8 dblreq',
    text: `${message('OPTIONS', 'dblreq')}${message('INVITE', 'dblreq2')}`,
    answer: 200,
  },
  {
    name: '3.1.1.9 semiuri',
    text: message('OPTIONS', 'semiuri', { line: 'OPTIONS sip:user;par=u%40example.net@example.com SIP/2.0' }),
    answer: 200,
  },
  {
    name: '3.1.1.10 transports',
    text: message('OPTIONS', 'transports', {
      via: 'SIP/2.0/UDP t1.example.com;branch=z9hG4bKtransports, SIP/2.0/SCTP t2.example.com;branch=z9hG4bKa, SIP/2.0/TLS t3.example.com;branch=z9hG4bKb, SIP/2.0/UNKNOWN t4.example.com;branch=z9hG4bKc',
    }),
    answer: 200,
  },
  {
    name: '3.1.1.11 mpart01',
    text: message('MESSAGE', 'mpart01', {
      body: multipart,
      more: ['Content-Type: multipart/mixed;boundary=7a9cbec02ceef655'],
    }),
    answer: 405,
  },
  { name: '3.1.1.12 unreason', text: response('SIP/2.0 200 = 2**3 * 5**2 \u043d\u043e'), answer: 'none' },
  { name: '3.1.1.13 noreason', text: response('SIP/2.0 100 '), answer: 'none' },
];

function response(line: string): string {
  return message('INVITE', 'answered', { line, body: '', length: 0 });
}

/** 3.1.2: invalid messages. */
const invalid: readonly Torture[] = [
  {
    name: '3.1.2.1 badinv01',
    text: message('INVITE', 'badinv01', {
      via: 'SIP/2.0/UDP 192.0.2.15;;,;,,',
      to: 'sip:j.user@example.com',
      contact: '"Joe" <sip:joe@example.org>;;;;',
    }),
    answer: 100,
  },
  { name: '3.1.2.2 clerr', text: message('INVITE', 'clerr', { length: 9_999 }), answer: 400 },
  { name: '3.1.2.3 ncl', text: message('INVITE', 'ncl', { length: -999 }), answer: 400 },
  {
    name: '3.1.2.4 scalar02',
    text: message('REGISTER', 'scalar02', {
      line: 'REGISTER sip:example.com SIP/2.0',
      cseq: '36893488147419103232 REGISTER',
      forwards: '300',
      more: ['Expires: 1000000000000000000000'],
    }),
    answer: 400,
  },
  {
    name: '3.1.2.5 scalarlg',
    text: response('SIP/2.0 503 Service Unavailable').replace('CSeq: 8', 'CSeq: 9292394834772304023312'),
    answer: 'none',
  },
  {
    name: '3.1.2.6 quotbal',
    text: message('INVITE', 'quotbal', { to: '"Mr. J. User <sip:j.user@example.com>' }),
    answer: 400,
  },
  {
    name: '3.1.2.7 ltgtruri',
    text: message('INVITE', 'ltgtruri', { line: 'INVITE <sip:user@example.com> SIP/2.0' }),
    answer: 400,
  },
  {
    name: '3.1.2.8 lwsruri',
    text: message('INVITE', 'lwsruri', { line: 'INVITE sip:user@example.com; lr SIP/2.0' }),
    answer: 400,
  },
  {
    name: '3.1.2.9 lwsstart',
    text: message('INVITE', 'lwsstart', { line: 'INVITE  sip:user@example.com  SIP/2.0' }),
    answer: 400,
  },
  {
    name: '3.1.2.10 trws',
    text: message('OPTIONS', 'trws', { line: 'OPTIONS sip:remote-target@example.com SIP/2.0  ' }),
    answer: 400,
  },
  {
    name: '3.1.2.11 escruri',
    text: message('INVITE', 'escruri', {
      line: 'INVITE sip:user@example.com?Route=%3Csip:example.com%3E SIP/2.0',
    }),
    answer: 400,
  },
  {
    name: '3.1.2.12 baddate',
    text: message('INVITE', 'baddate', { more: ['Date: Fri, 01 Jan 2010 16:00:00 EST'] }),
    answer: 100,
  },
  {
    name: '3.1.2.13 regbadct',
    text: message('REGISTER', 'regbadct', {
      contact: 'sip:user@example.com?Route=%3Csip:sip.example.com%3E',
    }),
    answer: 400,
  },
  {
    name: '3.1.2.14 badaspec',
    text: message('OPTIONS', 'badaspec', { to: '"Watson, Thomas" < sip:t.watson@example.org >' }),
    answer: 400,
  },
  {
    name: '3.1.2.15 baddn',
    text: message('OPTIONS', 'baddn', { from: 'Bell, Alexander <sip:a.g.bell@example.com>;tag=43' }),
    answer: 400,
  },
  {
    name: '3.1.2.16 badvers',
    text: message('OPTIONS', 'badvers', { line: 'OPTIONS sip:t.watson@example.org SIP/7.0' }),
    answer: 505,
  },
  { name: '3.1.2.17 mismatch01', text: message('OPTIONS', 'mismatch01', { cseq: '8 INVITE' }), answer: 400 },
  {
    name: '3.1.2.18 mismatch02',
    text: message('NEWMETHOD', 'mismatch02', { cseq: '8 INVITE', body: sdp }),
    answer: 400,
  },
  {
    name: '3.1.2.19 bigcode',
    text: response('SIP/2.0 4294967301 better not break the receiver'),
    answer: 'none',
  },
];

/** 3.2 to 3.4: what is right in form, and what an agent makes of it. */
const semantic: readonly Torture[] = [
  {
    name: '3.2.1 badbranch',
    text: message('OPTIONS', 'badbranch', { via: 'SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK' }),
    answer: 200,
  },
  {
    name: '3.3.1 insuf',
    text: 'INVITE sip:user@example.com SIP/2.0\r\nCSeq: 193942 INVITE\r\nVia: SIP/2.0/UDP 192.0.2.95;branch=z9hG4bKkdj.insuf\r\nContent-Type: application/sdp\r\nl: 0\r\n\r\n',
    answer: 400,
  },
  {
    name: '3.3.2 unkscm',
    text: message('OPTIONS', 'unkscm', {
      line: 'OPTIONS nobodyKnowsThisScheme:totallyopaquecontent SIP/2.0',
    }),
    answer: 416,
  },
  {
    name: '3.3.3 novelsc',
    text: message('OPTIONS', 'novelsc', { line: 'OPTIONS soap.beep://192.0.2.103:3002 SIP/2.0' }),
    answer: 416,
  },
  {
    name: '3.3.4 unksm2',
    text: message('REGISTER', 'unksm2', {
      to: 'isbn:2983792873',
      from: '<http://www.example.com>;tag=3234233',
    }),
    answer: 405,
  },
  {
    name: '3.3.5 bext01',
    text: message('OPTIONS', 'bext01', {
      more: [
        'Require: nothingSupportsThis, nothingSupportsThisEither',
        'Proxy-Require: noProxiesSupportThis',
      ],
    }),
    answer: 420,
  },
  {
    name: '3.3.6 invut',
    text: message('INVITE', 'invut', {
      more: ['Content-Type: application/unknownformat'],
      body: '<audio>\r\n',
    }),
    answer: 415,
  },
  {
    name: '3.3.7 regaut01',
    text: message('REGISTER', 'regaut01', { more: ['Authorization: NoOneKnowsThisScheme opaque-data=here'] }),
    answer: 405,
  },
  {
    name: '3.3.8 multi01',
    text: message('INVITE', 'multi01', {
      more: [
        'CSeq: 59 INVITE',
        'Call-ID: multi01.second',
        'From: sip:u@example.com;tag=2',
        'To: sip:u2@example.com',
      ],
    }),
    answer: 400,
  },
  {
    name: '3.3.9 mcl01',
    text: message('OPTIONS', 'mcl01', { more: ['Content-Length: 13'], length: 5 }),
    answer: 400,
  },
  {
    name: '3.3.10 bcast',
    text: response('SIP/2.0 200 OK').replace('192.0.2.1;', '192.0.2.198;'),
    answer: 'none',
  },
  { name: '3.3.11 zeromf', text: message('OPTIONS', 'zeromf', { forwards: '0' }), answer: 200 },
  {
    name: '3.3.12 cparam01',
    text: message('REGISTER', 'cparam01', { contact: 'sip:+19725552222@gw1.example.net;unknownparam' }),
    answer: 405,
  },
  {
    name: '3.3.13 cparam02',
    text: message('REGISTER', 'cparam02', { contact: '<sip:+19725552222@gw1.example.net;unknownparam>' }),
    answer: 405,
  },
  {
    name: '3.3.14 regescrt',
    text: message('REGISTER', 'regescrt', {
      contact: '<sip:user@example.com?Route=%3Csip:sip.example.com%3E>',
    }),
    answer: 405,
  },
  {
    name: '3.3.15 sdp01',
    text: message('INVITE', 'sdp01', { more: ['Accept: text/nobodyKnowsThis'], body: '' }),
    answer: 406,
  },
  {
    name: '3.4.1 inv2543',
    text: [
      'INVITE sip:UserB@example.com SIP/2.0',
      'Via: SIP/2.0/UDP iftgw.example.com',
      'From: <sip:+13035551111@ift.client.example.net;user=phone>',
      'Record-Route: <sip:UserB@example.com;maddr=ss1.example.com>',
      'To: sip:+16505552222@ss1.example.net;user=phone',
      'Call-ID: inv2543.1717@ift.client.example.com',
      'CSeq: 56 INVITE',
      'Contact: <sip:+13035551111@ift.client.example.net>',
      'Content-Type: application/sdp',
      '',
      sdp,
    ].join('\r\n'),
    answer: 100,
  },
];

export const torture: readonly Torture[] = [...valid, ...invalid, ...semantic];
