/**
 * Clients that are no packages of this project: browser clients of WHIP and of RTVI as npm packages, aiortc in a virtual environment.
 * `SVC_WHIP_CLIENTS` names the folder that has both (`.ci/run` makes it); without it their tests skip and say so.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env['SVC_WHIP_CLIENTS'];

/** Why tests with these clients cannot run here, or undefined when they can. */
export const clientsMissing: string | undefined =
  folder !== undefined && existsSync(join(folder, 'node_modules'))
    ? undefined
    : 'SVC_WHIP_CLIENTS names no folder with clients of WHIP and RTVI';

/** Where bundlers find the packages. */
export const clientModules = join(folder ?? '/', 'node_modules');

/** The interpreter that has aiortc; undefined where there is none. */
export const aiortcPython: string | undefined =
  folder !== undefined && existsSync(join(folder, 'venv/bin/python'))
    ? join(folder, 'venv/bin/python')
    : undefined;
