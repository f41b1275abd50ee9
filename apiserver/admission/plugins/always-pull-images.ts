import type { ApiObject } from '../../../shared/object/object';
import type { AdmissionAttributes } from '../../registry/admission';
import type { Json } from '../../../shared/object/accessors';
import { records, text } from '../../../shared/object/accessors';
import type { AdmissionPlugin } from '../plugin';
import { writesOf } from '../plugin';
import { refusal } from '../refusal';
import { PODS } from './resources';
import { specOf, withSpec } from './with-spec';

const ALWAYS = 'Always';
const LISTS = ['initContainers', 'containers', 'ephemeralContainers'];

/** Every image is pulled each time, so that nobody runs a private one that somebody else's pod has left on the node. */
export const alwaysPullImages: AdmissionPlugin = {
  concerns: writesOf(PODS, ['CREATE', 'UPDATE']),
  mutate(attributes) {
    const { object } = attributes;
    return object === undefined || hasNoNewImage(attributes) ? object : pulled(object);
  },
  validate(attributes) {
    if (hasNoNewImage(attributes)) return;
    for (const list of LISTS) {
      const at = records(specOf(attributes.object)[list]).findIndex((each) => !isPulled(each));
      if (at >= 0) {
        throw refusal(attributes, `spec.${list}[${String(at)}].imagePullPolicy: only "${ALWAYS}" is allowed`);
      }
    }
  },
};

function isPulled(container: Json): boolean {
  return text(container['imagePullPolicy']) === ALWAYS;
}

function pulled(pod: ApiObject): ApiObject {
  const spec = specOf(pod);
  const lists = LISTS.filter((list) => spec[list] !== undefined).map((list) => [
    list,
    records(spec[list]).map((container) => ({ ...container, imagePullPolicy: ALWAYS })),
  ]);
  return withSpec(pod, Object.fromEntries(lists) as Json);
}

/** A pod that was let in before may be updated as long as it brings no other image. */
function hasNoNewImage({ operation, object, oldObject }: AdmissionAttributes): boolean {
  if (operation !== 'UPDATE') return false;
  const known = new Set(imagesOf(oldObject));
  return imagesOf(object).every((image) => known.has(image));
}

function imagesOf(pod: ApiObject | undefined): readonly string[] {
  return LISTS.flatMap((list) => records(specOf(pod)[list])).map(({ image }) => text(image));
}
