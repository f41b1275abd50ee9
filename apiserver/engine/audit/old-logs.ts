import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** The retention of rotated files. */
export interface Retention {
  /** 0: unlimited. */
  readonly backupsMax: number;
  /** 0: unlimited. */
  readonly ageDaysMax: number;
  readonly compress: boolean;
}

const DAY_MS = 86_400_000;
const GZIP = '.gz';
const STAMP = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/;

/** Returns the name of a rotated file with its time in UTC: `/var/log/audit-2021-05-04T10-20-30.123.log`. */
export function oldLogName(file: string, epochMs: number): string {
  const { dir, name, ext } = path.parse(file);
  const stamp = new Date(epochMs).toISOString().slice(0, -1).replaceAll(':', '-');
  return path.join(dir, `${name}-${stamp}${ext}`);
}

/** Removes files that are too old or too many, keeps the newest, and compresses the rest if configured. */
export async function tidyOldLogs(file: string, retention: Retention, nowMs: number): Promise<void> {
  const { backupsMax, ageDaysMax, compress } = retention;
  if (backupsMax === 0 && ageDaysMax === 0 && !compress) return;
  const old = await oldLogs(file);
  const oldestMs = ageDaysMax === 0 ? -Infinity : nowMs - ageDaysMax * DAY_MS;
  for (const [index, { atMs, at }] of old.entries()) {
    const isTooMuch = backupsMax > 0 && index >= backupsMax;
    if (isTooMuch || atMs < oldestMs) await rm(at, { force: true });
    else if (compress && !at.endsWith(GZIP)) await compressFile(at);
  }
}

interface OldLog {
  readonly at: string;
  readonly atMs: number;
}

/** Lists rotated files, newest first. Other files of the directory are ignored. */
async function oldLogs(file: string): Promise<OldLog[]> {
  const { dir, name, ext } = path.parse(file);
  const found: OldLog[] = [];
  for (const entry of await readdir(dir === '' ? '.' : dir)) {
    const whole = entry.endsWith(GZIP) ? entry.slice(0, -GZIP.length) : entry;
    if (!whole.startsWith(`${name}-`) || !whole.endsWith(ext)) continue;
    const match = STAMP.exec(whole.slice(name.length + 1, whole.length - ext.length));
    if (match === null) continue;
    const [, day, hour, minute, second] = match;
    const atMs = Date.parse(`${String(day)}T${String(hour)}:${String(minute)}:${String(second)}Z`);
    if (!Number.isNaN(atMs)) found.push({ at: path.join(dir, entry), atMs });
  }
  return found.sort((a, b) => b.atMs - a.atMs);
}

/** Renames the compressed file when it is complete, and only then removes the original. */
async function compressFile(file: string): Promise<void> {
  const part = `${file}${GZIP}.part`;
  await pipeline(createReadStream(file), createGzip(), createWriteStream(part, { mode: 0o600 }));
  await rename(part, `${file}${GZIP}`);
  await rm(file);
}
