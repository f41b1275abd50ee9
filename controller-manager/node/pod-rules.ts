import { createHash } from 'node:crypto';
import type { Container, Pod } from '../../shared/api/types/core-v1';
import { parseDurationMs } from '../../shared/flags/duration';
import { KWOK_DOMAIN } from '../../shared/names';

/** The changes of a pod that have a delay, with the names of KWOK's stages. */
export type Stage =
  | 'pod-create'
  | 'pod-init-container-running'
  | 'pod-init-container-completed'
  | 'pod-ready'
  | 'pod-complete'
  | 'pod-delete'
  | 'pod-container-running-failed'
  | 'pod-init-container-running-failed';

/** How a container ends. */
export interface ExitRule {
  /** Milliseconds from the start of the container. */
  readonly afterMs: number;
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string;
}

/** The delays that a pod has without an annotation, in milliseconds; all others are 0, as in KWOK's fast stages. */
const DEFAULT_DELAY_MS: Partial<Record<Stage, number>> = {
  'pod-complete': 1_000,
  'pod-container-running-failed': 1_000,
};
const EXIT_CODE_MAX = 255;
const SECOND_MS = 1_000;

/** Returns the delay of a stage in milliseconds. With a jitter it is between both, and the same at each call for one pod. */
export function delayOf(pod: Pod, stage: Stage): number {
  const delayMs = durationOf(pod, stage, 'delay') ?? DEFAULT_DELAY_MS[stage] ?? 0;
  const jitterMs = durationOf(pod, stage, 'jitter-delay');
  if (jitterMs === undefined || jitterMs <= delayMs) return delayMs;
  const hash = createHash('sha256')
    .update(`${pod.metadata.uid ?? ''}/${stage}`)
    .digest();
  return delayMs + (hash.readUInt32BE() / 2 ** 32) * (jitterMs - delayMs);
}

/**
 * Returns how a container of a pod ends; undefined if it runs until the pod is deleted. As with KWOK, a label makes a container fail, an annotation
 * with a delay makes it complete, and pods of Jobs complete. Without an annotation, a pod that does not always restart ends as its command says.
 */
export function exitOf(pod: Pod, container: Container): ExitRule | undefined {
  const failed = failureOf(pod, container.name, 'pod-container-running-failed');
  if (failed !== undefined) return failed;
  const isOfJob = (pod.metadata.ownerReferences ?? []).some(({ kind }) => kind === 'Job');
  const isAnnotated =
    durationOf(pod, 'pod-complete', 'delay') !== undefined ||
    (isOfJob && annotationOf(pod, 'pod-complete', 'exit-code') !== undefined);
  const byCommand = isAnnotated || pod.spec.restartPolicy === 'Always' ? undefined : exitOfCommand(container);
  if (byCommand === 'never' || (byCommand === undefined && !isOfJob && !isAnnotated)) return undefined;
  const { exitCode = exitCodeOf(pod, 'pod-complete', 0), afterMs = delayOf(pod, 'pod-complete') } =
    byCommand ?? {};
  return endedWith(exitCode, afterMs);
}

/** Returns how an init container ends. */
export function initExitOf(pod: Pod, container: Container): ExitRule {
  const byCommand = exitOfCommand(container);
  const exitCode = byCommand === undefined || byCommand === 'never' ? 0 : byCommand.exitCode;
  return (
    failureOf(pod, container.name, 'pod-init-container-running-failed') ??
    endedWith(exitCode, delayOf(pod, 'pod-init-container-completed'))
  );
}

function endedWith(exitCode: number, afterMs: number): ExitRule {
  return { afterMs, exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' };
}

type CommandExit = { readonly exitCode: number; readonly afterMs?: number } | 'never';

const PROGRAM_EXITS = new Map<string, CommandExit>([
  ['pause', 'never'],
  ['true', { exitCode: 0 }],
  ['false', { exitCode: 1 }],
]);
/** The words of a command that say how long it runs and how it ends. */
const COMMAND_WORDS = /\bexit\s+(\d{1,3})\b|\bsleep\s+(?:(\d+(?:\.\d+)?)([smhd]?)|inf)/gu;
/** A container with a loop counts as one that never ends, wherever its `exit` is: it may be in a function for signals. */
const LOOP = /\b(?:while|until)\b/u;
const UNIT_MS = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
/** A longer sleep counts as one without an end; timers cannot wait much longer. */
const SLEEP_MS_MAX = 2_000_000_000;
/** The text of a command beyond this is not read. */
const COMMAND_LENGTH_MAX = 4_096;

/**
 * Returns how a container ends by the text of its command, which does not run: `true`, `false`, or the first `exit N` and the `sleep N` before it. Loops
 * and the program `pause` never end, and conditions are not evaluated. Undefined if the text does not say.
 */
function exitOfCommand({ command = [], args = [], image = '' }: Container): CommandExit | undefined {
  const text = [...command, ...args].join(' ').slice(0, COMMAND_LENGTH_MAX);
  return PROGRAM_EXITS.get(programOf(text === '' ? image : text)) ?? exitOfText(text);
}

/** Returns the last segment of the path in the first word, without the tag of an image. */
function programOf(text: string): string {
  const [word = ''] = text.split(/\s/u, 1);
  const [program = ''] = word.slice(word.lastIndexOf('/') + 1).split(/[:@]/u, 1);
  return program;
}

/** A loop never ends, the first `exit N` ends, and each `sleep N` before it takes its time. */
function exitOfText(text: string): CommandExit | undefined {
  if (LOOP.test(text)) return 'never';
  let sleptMs = 0;
  let isReadable = false;
  const ended = (exitCode: number) => ({ exitCode, ...(sleptMs === 0 ? {} : { afterMs: sleptMs }) });
  for (const [, code, amount = 'inf', unit = ''] of text.matchAll(COMMAND_WORDS)) {
    if (code !== undefined) return ended(Number(code) % (EXIT_CODE_MAX + 1));
    isReadable = true;
    sleptMs += amount === 'inf' ? SLEEP_MS_MAX : Number(amount) * (UNIT_MS.get(unit) ?? SECOND_MS);
    if (sleptMs >= SLEEP_MS_MAX) return 'never';
  }
  return isReadable ? ended(0) : undefined;
}

/** Reports whether the running containers of a pod are ready: all are, unless an annotation says `false`. */
export function isReadyByRule(pod: Pod): boolean {
  return annotationOf(pod, 'pod-ready', 'ready') !== 'false';
}

/** Returns the use of a container, as metrics have it: that of the pod's annotations, which count for each container as with KWOK. */
export function usageOf({ metadata }: Pod): { readonly cpu: string; readonly memory: string } {
  const { annotations = {} } = metadata;
  return {
    cpu: annotations[`${KWOK_DOMAIN}/usage-cpu`] ?? '1m',
    memory: annotations[`${KWOK_DOMAIN}/usage-memory`] ?? '1Mi',
  };
}

/** The key of a label of a node that is reported as not ready. */
export const NODE_NOT_READY_LABEL = `node-not-ready.stage.${KWOK_DOMAIN}`;

function failureOf(
  pod: Pod,
  container: string,
  stage: 'pod-container-running-failed' | 'pod-init-container-running-failed',
): ExitRule | undefined {
  if (pod.metadata.labels?.[`${stage}.stage.${KWOK_DOMAIN}`] !== 'true') return undefined;
  const only = annotationOf(pod, stage, 'container-name') ?? '';
  if (only !== '' && only !== container) return undefined;
  return {
    afterMs: delayOf(pod, stage),
    exitCode: exitCodeOf(pod, stage, 1),
    reason: annotationOf(pod, stage, 'reason') ?? 'Error',
    message: annotationOf(pod, stage, 'message') ?? 'container failed',
  };
}

function exitCodeOf(pod: Pod, stage: Stage, otherwise: number): number {
  const code = Number(annotationOf(pod, stage, 'exit-code') ?? otherwise);
  return Number.isInteger(code) && code >= 0 && code <= EXIT_CODE_MAX ? code : otherwise;
}

function durationOf(pod: Pod, stage: Stage, field: 'delay' | 'jitter-delay'): number | undefined {
  const text = annotationOf(pod, stage, field);
  const ms = text === undefined ? undefined : parseDurationMs(text);
  return ms === undefined || ms < 0 ? undefined : ms;
}

function annotationOf({ metadata }: Pod, stage: Stage, field: string): string | undefined {
  return metadata.annotations?.[`${stage}.stage.${KWOK_DOMAIN}/${field}`];
}
