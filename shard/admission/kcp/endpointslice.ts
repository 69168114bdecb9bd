import { isDeepStrictEqual } from 'node:util'
import type { AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { invalid } from '../../../framework/meta/errors.ts'
import { apisGroup } from '../../../kcp/apigroups.ts'
import type { APIExportEndpointSlice } from '../../../kcp/apis.ts'

import { checkBind, type ExportRules } from './exportreference.ts'
import { concerns, refused } from './refusal.ts'

const slices = 'apiexportendpointslices.apis.kcp.io'

/** Whoever wants an export's URLs may bind it; the export is fixed (chapter 20, sections 2.9 and 5.4). */
export const endpointSliceAdmission = (rules: ExportRules): AdmissionPlugin => ({
  name: 'apis.kcp.io/APIExportEndpointSlice',
  handles: { resources: [slices] },
  async validate(ctx, request) {
    if (!concerns(request, slices, ['CREATE', 'UPDATE'])) return
    const slice = request.object as APIExportEndpointSlice
    const old = request.old as APIExportEndpointSlice | undefined
    const reference = slice.spec?.export
    if (!reference?.name) throw refused(request, 'spec.export.name: Required value')
    if (old === undefined) await checkBind(rules, ctx, request, reference)
    else if (!isDeepStrictEqual(old.spec?.export, reference)) throw changed(slice)
  },
})

const changed = ({ metadata, spec }: APIExportEndpointSlice): Error =>
  invalid('APIExportEndpointSlice', apisGroup, metadata.name ?? '', [
    {
      type: 'FieldValueInvalid',
      field: 'spec.export',
      value: spec?.export,
      detail: 'APIExport reference must not be changed',
    },
  ])
