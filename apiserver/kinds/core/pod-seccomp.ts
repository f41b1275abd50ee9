import { ANNOTATION } from '../../../shared/names';
import type { ApiObject } from '../../../shared/object/object';
import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, record, records, text } from '../../../shared/object/accessors';

const LOCALHOST = 'localhost/';

/**
 * A new pod says its seccomp profiles twice, in fields and in the annotations that were their old home: what one of them lacks it
 * gets from the other. Where both are there and differ, validation tells.
 */
export function withSeccompTwins(pod: ApiObject): ApiObject {
  const annotations = { ...pod.metadata.annotations };
  const known = Object.keys(annotations).length;
  const spec = record(pod['spec']);
  const security = withProfile(optionalRecord(spec['securityContext']), annotations, ANNOTATION.seccompPod);
  const lists = ['initContainers', 'containers', 'ephemeralContainers'].filter(
    (list) => spec[list] !== undefined,
  );
  const containers = lists.map((list) => [
    list,
    records(spec[list]).map((container) => {
      const key = `${ANNOTATION.seccompContainerPrefix}${text(container['name'])}`;
      const context = withProfile(optionalRecord(container['securityContext']), annotations, key);
      return context === undefined ? container : { ...container, securityContext: context };
    }),
  ]);
  return {
    ...pod,
    ...(Object.keys(annotations).length === known ? {} : { metadata: { ...pod.metadata, annotations } }),
    spec: {
      ...spec,
      ...(security === undefined ? {} : { securityContext: security }),
      ...(Object.fromEntries(containers) as Json),
    },
  };
}

/** The security context with the profile of the annotation; or the annotation is added to `annotations`. */
function withProfile(
  context: Json | undefined,
  annotations: Record<string, string>,
  key: string,
): Json | undefined {
  const profile = optionalRecord(record(context)['seccompProfile']);
  const annotation = annotations[key];
  if (profile !== undefined && annotation === undefined) {
    const given = annotationOf(profile);
    if (given !== undefined) annotations[key] = given;
    return context;
  }
  if (profile !== undefined || annotation === undefined) return context;
  const meant = profileOf(annotation);
  return meant === undefined ? context : { ...context, seccompProfile: meant };
}

function annotationOf(profile: Json): string | undefined {
  const localhost = profile['localhostProfile'];
  switch (text(profile['type'])) {
    case 'Unconfined':
      return 'unconfined';
    case 'RuntimeDefault':
      return 'runtime/default';
    case 'Localhost':
      return typeof localhost === 'string' ? `${LOCALHOST}${localhost}` : undefined;
    default:
      return undefined;
  }
}

function profileOf(annotation: string): Json | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default' || annotation === 'docker/default') return { type: 'RuntimeDefault' };
  const localhost = annotation.startsWith(LOCALHOST) ? annotation.slice(LOCALHOST.length) : '';
  return localhost === '' ? undefined : { type: 'Localhost', localhostProfile: localhost };
}
