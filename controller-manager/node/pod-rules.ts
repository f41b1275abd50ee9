import { createHash } from 'node:crypto';
import type { Pod } from '../../shared/api/types/core-v1';
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
 * Returns how a container of a pod ends; undefined if it runs until the pod is deleted. As with KWOK, pods of Jobs complete, and a label makes a
 * container fail; any other pod completes if it has the annotation with the delay.
 */
export function exitOf(pod: Pod, container: string): ExitRule | undefined {
  const failed = failureOf(pod, container, 'pod-container-running-failed');
  if (failed !== undefined) return failed;
  const isOfJob = (pod.metadata.ownerReferences ?? []).some(({ kind }) => kind === 'Job');
  if (!isOfJob && durationOf(pod, 'pod-complete', 'delay') === undefined) return undefined;
  const exitCode = exitCodeOf(pod, 'pod-complete', 0);
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  return { afterMs: delayOf(pod, 'pod-complete'), exitCode, reason };
}

/** Returns how an init container ends. */
export function initExitOf(pod: Pod, container: string): ExitRule {
  const completed = {
    afterMs: delayOf(pod, 'pod-init-container-completed'),
    exitCode: 0,
    reason: 'Completed',
  };
  return failureOf(pod, container, 'pod-init-container-running-failed') ?? completed;
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
