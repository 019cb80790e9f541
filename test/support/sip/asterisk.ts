/**
 * Asterisk as a PBX on loopback, from a folder into which `.ci/asterisk` unpacked it: run by the loader and with the libraries that came
 * with it, so that nothing of it is installed. The lines for the service are those of docs/sip.md.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Observed } from '../process/observed.ts';
import { stopped } from '../process/running-demo.ts';

const root = process.env['SVC_ASTERISK'] === undefined ? undefined : resolve(process.env['SVC_ASTERISK']);
const program = join(root ?? '', 'usr/sbin/asterisk');

/** Why these tests cannot run here, or undefined when they can. */
export const asteriskMissing: string | undefined =
  root === undefined
    ? 'SVC_ASTERISK names no folder of .ci/asterisk'
    : existsSync(program)
      ? undefined
      : `${program} is not there`;

export interface AsteriskOptions {
  readonly ports: { readonly plain: number; readonly tls: number; readonly rtp: readonly [number, number] };
  readonly certificate: { readonly key: string; readonly cert: string };
  /** Where the service is, and how Asterisk signs in there. */
  readonly service: {
    readonly plain: number;
    readonly tls: number;
    readonly user: string;
    readonly password: string;
  };
  /** Who may register: each is called by its name, and signs in by it. */
  readonly phones: Readonly<Record<string, string>>;
  /** The dial plan of all of them. */
  readonly extensions: string;
}

/** What it takes to be a PBX with two transports, SDES and transfers. */
const parts = [
  ...['res_timing_timerfd', 'res_sorcery_config', 'res_sorcery_memory', 'res_sorcery_astdb', 'res_pjproject'],
  ...['res_pjsip', 'res_pjsip_session', 'res_pjsip_sdp_rtp', 'res_rtp_asterisk', 'res_srtp', 'chan_pjsip'],
  ...['res_pjsip_authenticator_digest', 'res_pjsip_outbound_authenticator_digest', 'res_pjsip_registrar'],
  ...['res_pjsip_endpoint_identifier_user', 'res_pjsip_endpoint_identifier_ip', 'res_pjsip_caller_id'],
  ...['res_pjsip_pubsub', 'res_pjsip_refer', 'res_pjsip_rfc3326', 'res_pjsip_dtmf_info', 'res_pjsip_nat'],
  ...[
    'codec_ulaw',
    'codec_alaw',
    'codec_a_mu',
    'codec_g722',
    'codec_resample',
    'bridge_simple',
    'bridge_native_rtp',
  ],
  ...['pbx_config', 'app_dial', 'app_playtones', 'app_verbose'],
];

const media = 'disallow=all\nallow=g722,ulaw,alaw\ndtmf_mode=rfc4733\nmedia_address=127.0.0.1\n';

function pjsip({ ports, service, phones }: AsteriskOptions, folder: string): string {
  const transport = (name: string, port: number): string =>
    `[transport-${name}]\ntype=transport\nprotocol=${name}\nbind=127.0.0.1:${port}\n`;
  const agent = (name: string, by: string, contact: string, more = ''): string =>
    `[${name}]\ntype=endpoint\ntransport=transport-${by}\ncontext=default\naors=${name}\noutbound_auth=agent-auth\n${media}${more}` +
    `[${name}]\ntype=aor\ncontact=${contact}\n`;
  const phone = ([name, password]: readonly [string, string]): string =>
    `[${name}]\ntype=endpoint\ncontext=default\naors=${name}\nauth=${name}-auth\n${media}` +
    `[${name}]\ntype=aor\nmax_contacts=1\nremove_existing=yes\n` +
    `[${name}-auth]\ntype=auth\nauth_type=userpass\nusername=${name}\npassword=${password}\n`;
  return [
    transport('udp', ports.plain),
    transport('tcp', ports.plain),
    `${transport('tls', ports.tls)}cert_file=${folder}/cert.pem\npriv_key_file=${folder}/key.pem\nmethod=tlsv1_2\n`,
    agent('agent', 'udp', `sip:agent@127.0.0.1:${service.plain}`),
    agent(
      'agent-tls',
      'tls',
      `sip:agent@127.0.0.1:${service.tls}\\;transport=tls`,
      'media_encryption=sdes\n',
    ),
    `[agent-auth]\ntype=auth\nauth_type=userpass\nusername=${service.user}\npassword=${service.password}\n`,
    ...Object.entries(phones).map(phone),
  ].join('\n');
}

function configure(options: AsteriskOptions, folder: string): void {
  const places = ['cache', 'varlib', 'db', 'key', 'spool', 'run', 'log'];
  for (const place of places) mkdirSync(join(folder, place));
  const [from, to] = options.ports.rtp;
  const files = {
    'asterisk.conf': [
      '[directories]',
      `astetcdir => ${folder}`,
      ...places.map((place) => `ast${place}dir => ${folder}/${place}`),
      `astmoddir => ${readdirSync(join(root!, 'usr/lib'))
        .map((name) => join(root!, 'usr/lib', name, 'asterisk/modules'))
        .find((name) => existsSync(name))}`,
      `astdatadir => ${root}/usr/share/asterisk`,
    ].join('\n'),
    'modules.conf': `[modules]\nautoload=no\n${parts.map((part) => `load=${part}.so`).join('\n')}`,
    'logger.conf': '[logfiles]\nconsole => notice,warning,error,verbose',
    'rtp.conf': `[general]\nrtpstart=${from}\nrtpend=${to}`,
    'pjsip.conf': pjsip(options, folder),
    'extensions.conf': `[default]\n${options.extensions}`,
    'key.pem': options.certificate.key,
    'cert.pem': options.certificate.cert,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), `${text}\n`);
}

export class Asterisk extends Observed {
  readonly #child: ChildProcess;
  readonly #folder: string;
  /** Everything it has printed. */
  text = '';

  private constructor(child: ChildProcess, folder: string) {
    super();
    this.#child = child;
    this.#folder = folder;
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (bytes: Buffer) => {
        this.text += bytes.toString();
        this.changed();
      });
    child.once('close', () => this.changed());
  }

  static async start(options: AsteriskOptions): Promise<Asterisk> {
    const folder = mkdtempSync(join(tmpdir(), 'asterisk-'));
    configure(options, folder);
    const libraries = join(root!, 'usr/lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`);
    const loader = readdirSync(libraries).find((name) => name.startsWith('ld-linux')) ?? 'ld.so';
    const args = [
      '--library-path',
      libraries,
      program,
      '-f',
      '-n',
      '-vvv',
      '-C',
      join(folder, 'asterisk.conf'),
    ];
    const child = spawn(join(libraries, loader), args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const asterisk = new Asterisk(child, folder);
    await asterisk.says('Asterisk Ready.');
    return asterisk;
  }

  /** Resolves when it has printed this. */
  async says(text: string | RegExp): Promise<void> {
    const isSaid = (): boolean =>
      typeof text === 'string' ? this.text.includes(text) : text.test(this.text);
    await this.until(() => isSaid() || this.#child.exitCode !== null);
    if (!isSaid()) throw new Error(`Asterisk ended without saying ${String(text)}:\n${this.text}`);
  }

  async stop(): Promise<void> {
    await stopped(this.#child);
    rmSync(this.#folder, { recursive: true });
  }
}
