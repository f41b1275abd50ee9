import type { GroupVersion } from '../../../../shared/object/object';
import { apiVersionOf } from '../../../../shared/object/object';
import type { OtherDocument } from './other-documents';
import type {
  Named,
  OtherSwagger,
  SwaggerOperation,
  SwaggerParameter,
  SwaggerPathItem,
  SwaggerSchema,
} from './other-swagger';
import { definitionOfReference, usedDefinitions } from './references';

/** Returns the OpenAPI v3 document of a group version of an extension API server: its own, or its v2 document converted to v3. */
export function openapi3OfOther({ group, version, part, swagger }: OtherDocument): Buffer {
  return part ?? convertedPart({ group, version }, JSON.parse(swagger.toString('utf8')) as OtherSwagger);
}

function convertedPart(groupVersion: GroupVersion, { paths, definitions }: OtherSwagger): Buffer {
  const root = `/apis/${apiVersionOf(groupVersion)}`;
  const own = Object.entries(paths).filter(([path]) => path === root || path.startsWith(`${root}/`));
  const used = usedDefinitions(own, definitions);
  return Buffer.from(
    JSON.stringify({
      openapi: '3.0.0',
      info: { title: 'API', version: groupVersion.version },
      paths: mapped(Object.fromEntries(own), pathItem),
      components: { schemas: mapped(used, schemaOf) },
    }),
  );
}

function mapped<T>(values: Named<T>, change: (value: T) => object): object {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

function pathItem({ parameters, ...operations }: SwaggerPathItem): object {
  return {
    ...mapped<SwaggerOperation>(operations, operation),
    ...(parameters === undefined ? {} : { parameters: parameters.filter(isNoBody).map(parameterOf) }),
  };
}

function operation({ consumes, produces, schemes: _schemes, ...said }: SwaggerOperation): object {
  const { parameters, responses = {}, ...rest } = said;
  const body = parameters?.find((each) => !isNoBody(each));
  return {
    ...rest,
    ...(parameters === undefined ? {} : { parameters: parameters.filter(isNoBody).map(parameterOf) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: { content: contentOf(consumes, body.schema ?? {}), required: body.required === true },
        }),
    responses: mapped(responses, ({ description = '', schema }) => ({
      description,
      ...(schema === undefined ? {} : { content: contentOf(produces, schema) }),
    })),
  };
}

function isNoBody(parameter: SwaggerParameter): boolean {
  return parameter.in !== 'body';
}

function parameterOf({
  name,
  in: place,
  description,
  required,
  type,
  uniqueItems,
}: SwaggerParameter): object {
  return { name, in: place, description, required, schema: { type, uniqueItems } };
}

const ANY_TYPE: readonly string[] = ['*/*'];

function contentOf(types: readonly string[] = ANY_TYPE, schema: SwaggerSchema): object {
  return Object.fromEntries(types.map((type) => [type, { schema: schemaOf(schema) }]));
}

/** A reference has no siblings in v3, so its siblings go to a wrapping schema. */
function schemaOf({ $ref, ...said }: SwaggerSchema): object {
  const rest = withSchemasInside(said);
  const name = $ref === undefined ? undefined : definitionOfReference($ref);
  if (name === undefined) return rest;
  const leading = { $ref: `#/components/schemas/${name}` };
  return Object.keys(rest).length === 0 ? leading : { ...rest, allOf: [leading] };
}

function withSchemasInside({
  items,
  allOf,
  properties,
  additionalProperties,
  ...rest
}: SwaggerSchema): object {
  return {
    ...rest,
    ...(items === undefined ? {} : { items: schemaOf(items) }),
    ...(allOf === undefined ? {} : { allOf: allOf.map(schemaOf) }),
    ...(properties === undefined ? {} : { properties: mapped(properties, schemaOf) }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === 'boolean' ? additionalProperties : schemaOf(additionalProperties),
        }),
  };
}
