import type { Clock } from '../../../../shared/concurrency/clock';
import type { Log } from '../../../../shared/log/log';
import type { Pod } from '../../../../shared/api/types/core-v1';
import type { ClientRequests } from '../../../../shared/metrics/rest-client';
import { ANNOTATION, AUDIT_ANNOTATION, GROUP } from '../../../../shared/names';
import { stringMap, text } from '../../../../shared/object/accessors';
import { Questions } from '../../../engine/remote/questions';
import type { ReviewCall } from '../../../engine/remote/review-call';
import { createReviewCall } from '../../../engine/remote/review-call';
import type { AdmissionPlugin } from '../plugin';
import { pluginOf, writesOf } from '../plugin';
import { PODS } from '../../cluster/resources';
import { refusal } from '../refusal';
import type { ImagePolicyConfiguration } from './configuration';
import { imagePolicyConfiguration } from './configuration';

/** The question to the webhook. */
interface ImageReviewSpec {
  readonly containers: readonly { readonly image: string }[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly namespace: string;
}

interface ImageReviewStatus {
  readonly allowed: boolean;
  readonly reason: string;
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

interface ImagePolicyParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Counts the requests to the webhook; absent: they are not counted. */
  readonly requests?: ClientRequests;
}

type Ask = (spec: ImageReviewSpec, signal: AbortSignal) => Promise<ImageReviewStatus>;

/** A question has its own deadline, also during shutdown. */
const NEVER = new AbortController().signal;

/** Creates the plugin that asks a webhook about the images of pods. Throws an Error for an invalid configuration. */
export function imagePolicyWebhook(configuration: unknown, parts: ImagePolicyParts): AdmissionPlugin {
  const options = imagePolicyConfiguration(configuration);
  const ask = remembered(options, parts);
  return pluginOf(writesOf(PODS, ['CREATE', 'UPDATE']), {
    async validate(attributes, _cluster, signal) {
      const { object: pod, write } = attributes;
      if (pod === undefined) return;
      const note = (key: string, value: string): void =>
        write.annotate?.(`${AUDIT_ANNOTATION.imagePolicyPrefix}${key}`, value);
      let status: ImageReviewStatus;
      try {
        status = await ask(specOf(pod, write.namespace), signal);
      } catch (error) {
        if (signal.aborted) throw error;
        if (!options.defaultAllow) throw refusal(attributes, (error as Error).message);
        note('failed-open', 'true');
        return;
      }
      for (const [key, value] of Object.entries(status.auditAnnotations)) note(key, value);
      if (!status.allowed) throw refusal(attributes, textOf(status));
    },
  });
}

function textOf({ reason }: ImageReviewStatus): string {
  return reason === ''
    ? 'one or more images rejected by webhook backend'
    : `image policy webhook backend denied one or more images: ${reason}`;
}

/** The webhook sees only its own annotations, sorted, so that equal questions share one cache entry. */
function specOf({ metadata, spec }: Pod, namespace: string): ImageReviewSpec {
  const annotations = Object.entries(metadata.annotations ?? {})
    .filter(([key]) => key.includes(ANNOTATION.imagePolicyInfix))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    containers: [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ image = '' }) => ({
      image,
    })),
    ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations) }),
    namespace,
  };
}

function remembered(
  { kubeConfigFile: configFile, allowTtlMs, denyTtlMs, retryBackoffMs }: ImagePolicyConfiguration,
  { clock, log, requests }: ImagePolicyParts,
): Ask {
  const call = createReviewCall<ImageReviewStatus>({
    configFile,
    initialBackoffMs: retryBackoffMs,
    who: 'the image policy webhook',
    apiVersion: `${GROUP.imagepolicy}/v1alpha1`,
    kind: 'ImageReview',
    requests,
  });
  const questions = new Questions<ImageReviewSpec, ImageReviewStatus>({
    ask: async (spec, signal) => statusOf(call, spec, signal),
    isGood: ({ allowed }) => allowed,
    ttlMsOf: ({ allowed }) => (allowed ? allowTtlMs : denyTtlMs),
    onTrouble: (trouble) => {
      log.warn(trouble, 'the image policy webhook gave no answer');
    },
    clock,
    shutdownSignal: NEVER,
  });
  return async (spec, signal) => questions.result(spec, signal);
}

async function statusOf(
  call: ReviewCall<ImageReviewStatus>,
  spec: ImageReviewSpec,
  signal: AbortSignal,
): Promise<ImageReviewStatus> {
  const {
    allowed = false,
    reason,
    auditAnnotations,
  } = await call({ spec, status: { allowed: false } }, signal);
  if (typeof allowed !== 'boolean') throw new Error('the image policy webhook said neither yes nor no');
  const notes = Object.entries(stringMap(auditAnnotations)).map(([key, value]) => [key, text(value)]);
  return {
    allowed,
    reason: text(reason),
    auditAnnotations: Object.fromEntries(notes) as Record<string, string>,
  };
}
