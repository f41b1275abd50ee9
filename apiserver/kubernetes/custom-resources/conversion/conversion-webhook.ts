import { createHash } from 'node:crypto';
import type { CustomResourceDefinition } from '../../../../shared/api/types/apiextensions-v1';

/** The supported versions of ConversionReview. */
const REVIEW_VERSIONS = ['v1', 'v1beta1'] as const;
export type ConversionReviewVersion = (typeof REVIEW_VERSIONS)[number];

/** The address of a webhook. */
export type ConversionAddress =
  | { readonly url: string }
  | { readonly namespace: string; readonly name: string; readonly port: number; readonly path: string };

/** The conversion webhook of a definition. */
export interface ConversionWebhook {
  /** The name of the definition. */
  readonly definition: string;
  /** The first accepted version that is also supported here; undefined if there is none. */
  readonly reviewVersion: ConversionReviewVersion | undefined;
  readonly address: ConversionAddress;
  /** PEM; empty if the system's certificate authorities are trusted. */
  readonly authorities: string;
  /** Equal while the call configuration is unchanged. A change resets the circuit breaker. */
  readonly callKey: string;
}

/** Sends a review to a webhook. Resolves with the response body. Throws an Error that describes the failure. */
export type CallConversion = (
  webhook: ConversionWebhook,
  body: Buffer,
  signal: AbortSignal,
) => Promise<Buffer>;

const HTTPS_PORT = 443;

/** Returns the webhook of a definition whose conversion strategy is `Webhook`. */
export function conversionWebhookOf({
  metadata: { name = '' },
  spec: { conversion },
}: CustomResourceDefinition): ConversionWebhook {
  const { clientConfig = {}, conversionReviewVersions } = conversion?.webhook ?? {};
  const { url = '', service, caBundle = '' } = clientConfig;
  // As upstream, a CA bundle of only white space counts as absent.
  const authorities = Buffer.from(caBundle, 'base64').toString('utf8').trim();
  const address: ConversionAddress =
    service === undefined
      ? { url }
      : {
          namespace: service.namespace,
          name: service.name,
          port: service.port ?? HTTPS_PORT,
          path: service.path ?? '',
        };
  const accepted = (conversionReviewVersions ?? []).find(isSpoken);
  const reviewVersion = REVIEW_VERSIONS.find((each) => each === accepted);
  const callKey = createHash('sha256')
    .update(JSON.stringify([name, address, authorities]))
    .digest('base64');
  return { definition: name, reviewVersion, address, authorities, callKey };
}

function isSpoken(version: string): boolean {
  const spoken: readonly string[] = REVIEW_VERSIONS;
  return spoken.includes(version);
}
