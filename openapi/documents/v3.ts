import type { Paths } from './paths.ts'
import type { DocumentInfo, Format } from './render.ts'
import { memberOf, members } from './render.ts'
import type { Components } from './schema.ts'

/** An OpenAPI 3.0 document of one path, such as a group version (rules.md 8.21). */
export interface DocumentV3 {
  readonly openapi: '3.0.0'
  readonly info: DocumentInfo
  readonly paths: Paths
  readonly components: { readonly schemas: Components }
}

export const openApiV3: Format = {
  path: memberOf,
  schema: memberOf,
  document: (info, paths, schemas) => [
    `{"openapi":"3.0.0","info":${JSON.stringify(info)},"paths":{`,
    ...members(paths),
    '},"components":{"schemas":{',
    ...members(schemas),
    '}}}',
  ],
}
