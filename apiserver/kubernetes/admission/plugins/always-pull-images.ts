import type { Container, EphemeralContainer, Pod, PodSpec } from '../../../../shared/api/types/core-v1';
import type { WriteOf } from '../plugin';
import { pluginOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { PODS } from '../../cluster/resources';
import { withSpec } from './with-spec';

const ALWAYS = 'Always';
const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** Forces image pulls, so that no pod uses a private image that another tenant's pod left on the node. */
export const alwaysPullImages = pluginOf(writesOf(PODS, ['CREATE', 'UPDATE']), {
  mutate(attributes) {
    const { object } = attributes;
    return object === undefined || hasNoNewImage(attributes) ? object : pulled(object);
  },
  validate(attributes) {
    if (hasNoNewImage(attributes)) return;
    for (const list of LISTS) {
      const at = (attributes.object?.spec[list] ?? []).findIndex((each) => !isPulled(each));
      if (at >= 0) {
        throw refusal(attributes, `spec.${list}[${String(at)}].imagePullPolicy: only "${ALWAYS}" is allowed`);
      }
    }
  },
});

function isPulled({ imagePullPolicy }: Container | EphemeralContainer): boolean {
  return imagePullPolicy === ALWAYS;
}

function pulled(pod: Pod): Pod {
  const { spec } = pod;
  const lists = LISTS.filter((list) => spec[list] !== undefined).map((list) => [
    list,
    (spec[list] ?? []).map((container) => ({ ...container, imagePullPolicy: ALWAYS })),
  ]);
  return withSpec(pod, Object.fromEntries(lists) as Partial<PodSpec>);
}

/** An admitted pod may be updated unless it gets a new image. */
function hasNoNewImage({ operation, object, oldObject }: WriteOf<Pod>): boolean {
  if (operation !== 'UPDATE') return false;
  const known = new Set(imagesOf(oldObject));
  return imagesOf(object).every((image) => known.has(image));
}

function imagesOf(pod: Pod | undefined): readonly string[] {
  return LISTS.flatMap((list) => pod?.spec[list] ?? []).map(({ image = '' }) => image);
}
