import { createHash } from 'node:crypto';
import type { CustomResourceDefinition } from '../../../../shared/api/types/apiextensions-v1';

/** The versions of ConversionReview that are spoken. */
const REVIEW_VERSIONS = ['v1', 'v1beta1'] as const;
export type ConversionReviewVersion = (typeof REVIEW_VERSIONS)[number];

/** Where a webhook is. */
export type ConversionAddress =
  | { readonly url: string }
  | { readonly namespace: string; readonly name: string; readonly port: number; readonly path: string };

/** The webhook of a definition that converts its objects. */
export interface ConversionWebhook {
  /** Of the definition. */
  readonly definition: string;
  /** The first version that it accepts and that is spoken here; undefined for none. */
  readonly reviewVersion: ConversionReviewVersion | undefined;
  readonly address: ConversionAddress;
  /** PEM; empty where the authorities of the system are trusted. */
  readonly authorities: string;
  /** The same for as long as the webhook is asked in the same way: what is known of how it answers belongs to it. */
  readonly callKey: string;
}

/** Sends a review to a webhook. Resolves with the body of its answer; throws an Error that says why there is none. */
export type CallConversion = (
  webhook: ConversionWebhook,
  body: Buffer,
  signal: AbortSignal,
) => Promise<Buffer>;

const HTTPS_PORT = 443;

/** The webhook of a definition whose conversion strategy is `Webhook`. */
export function conversionWebhookOf({
  metadata: { name = '' },
  spec: { conversion },
}: CustomResourceDefinition): ConversionWebhook {
  const { clientConfig = {}, conversionReviewVersions } = conversion?.webhook ?? {};
  const { url = '', service, caBundle = '' } = clientConfig;
  // As upstream, one of nothing but white space is none.
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
