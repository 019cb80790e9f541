/** Where the facts of a call wait for the database: one file for each call, in `open` while it runs and in `ended` afterwards. */
import { recordingName } from '../recording/layout.ts';

/** Below the folder of the spool. */
export const spoolFolders = { open: 'open', ended: 'ended' } as const;

/** One process at a time looks after a spool: the one that has the lock on this file. */
export const spoolLock = 'lock';

const extension = '.jsonl';

/** The file of a call, by the id of its session, which no client chooses. */
export const spoolFile = (sessionId: string): string => `${recordingName(sessionId)}${extension}`;

export const isSpoolFile = (name: string): boolean => name.endsWith(extension);

/** Below the folder of the spool: events on their way to webhooks. */
export const webhooksFolder = 'webhooks';
/** What happens after calls, by the version of the agent that they began with. */
export const versionsFolder = 'versions';
/** Calls that wait to be analysed. */
export const analysesFolder = 'analyses';
