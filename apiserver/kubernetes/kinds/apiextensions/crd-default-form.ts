import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  JSONSchemaProps,
} from '../../../../shared/api/types/apiextensions-v1';
import type { Writable } from '../../../../shared/object/values';
import { coerceEmbeddedIn } from '../../../../shared/structural/embedded';
import type { StructuralSchema } from '../../../../shared/structural/structural-schema';
import { compileSchema } from '../../../../shared/structural/structural-schema';
import { META_FIELDS } from '../../../../shared/structural/prune';
import { hasDefault, hasSchemaWith, isEmbedded, schemaOf } from './crd-demands';
import { isSchema } from './crd-schema-parts';

/**
 * The definition with all defaults that hold embedded resources in the form in which those are stored, as v1.21 has them after it has validated
 * them: metadata has no unknown fields and no empty time. What cannot be brought into form stays for validation to refuse. The same object
 * where nothing changes.
 */
export function withDefaultsInForm(object: CustomResourceDefinition): CustomResourceDefinition {
  const { spec } = object;
  if (!hasSchemaWith(spec, isEmbedded) || !hasSchemaWith(spec, hasDefault)) return object;
  const versions = (spec.versions ?? []).map(versionInForm);
  const isSame = versions.every((version, index) => version === spec.versions?.[index]);
  return isSame ? object : { ...object, spec: { ...spec, versions } };
}

function versionInForm(version: CustomResourceDefinitionVersion): CustomResourceDefinitionVersion {
  const before = schemaOf(version);
  if (before === undefined) return version;
  const after = schemaInForm(before, compileSchema(before));
  return after === before ? version : { ...version, schema: { ...version.schema, openAPIV3Schema: after } };
}

/** Defaults of additional properties and in the metadata of a resource itself are not looked at, as upstream does not. */
function schemaInForm(json: JSONSchemaProps, schema: StructuralSchema): JSONSchemaProps {
  if (!schema.hasEmbedded) return json;
  const next: Writable<JSONSchemaProps> = { ...json };
  let isSame = true;
  if (schema.default !== undefined) {
    const { value } = coerceEmbeddedIn(schema, json.default, { drop: false });
    isSame = value === json.default;
    next.default = value;
  }
  if (isSchema(json.items) && schema.items !== undefined) {
    next.items = schemaInForm(json.items, schema.items);
    isSame &&= next.items === json.items;
  }
  const properties = Object.entries(json.properties ?? {}).map(([name, each]) => {
    const inside = schema.properties.get(name);
    const isMeta = schema.isEmbedded && META_FIELDS.has(name);
    return [name, inside === undefined || isMeta ? each : schemaInForm(each, inside)] as const;
  });
  if (properties.every(([name, each]) => each === json.properties?.[name])) return isSame ? json : next;
  return { ...next, properties: Object.fromEntries(properties) };
}
