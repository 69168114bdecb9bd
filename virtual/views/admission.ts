import { contextWith } from '../../framework/contract/context.ts'
import type { AdmissionPlugin, RequestContext } from '../../framework/index.ts'
import type { ExportParams } from '../shared/exports/exports.ts'
import type { ViewApis } from './apis.ts'
import type { ViewObject, ViewParams } from './types.ts'

/** The admission of the view of the export, for Views with an export as source. */
export function claimAdmission(
  apis: ViewApis,
  of: AdmissionPlugin<ExportParams>,
): AdmissionPlugin<ViewParams> {
  const asExport = (ctx: RequestContext<ViewParams>): RequestContext<ExportParams> | undefined => {
    const { spec } = (apis.find(ctx.params)?.object ?? {}) as Partial<ViewObject>
    const { apiExport } = spec?.source ?? {}
    if (apiExport === undefined) return undefined
    const params = { provider: ctx.params.owner, name: apiExport }
    return contextWith(ctx as unknown as RequestContext<ExportParams>, { params })
  }
  return {
    async mutate(ctx, attributes, again) {
      const inner = asExport(ctx)
      return inner === undefined
        ? attributes.object
        : (of.mutate?.(inner, attributes, again) ?? attributes.object)
    },
    async validate(ctx, attributes) {
      const inner = asExport(ctx)
      if (inner !== undefined) await of.validate?.(inner, attributes)
    },
  }
}

/** The admission of writes through Views of their own workspace. */
export const ownAdmission = (apis: ViewApis, of: AdmissionPlugin): AdmissionPlugin<ViewParams> => ({
  async validate(ctx, attributes) {
    const { spec } = (apis.find(ctx.params)?.object ?? {}) as Partial<ViewObject>
    if (spec?.source?.apiExport === undefined)
      await of.validate?.(ctx as unknown as RequestContext, attributes)
  },
})
