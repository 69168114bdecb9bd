import { aborted } from '../../framework/async/awaitable.ts'
import { defineVirtualWorkspace } from '../../framework/index.ts'
import { grantsAdmission, selectorAdmission } from '../shared/exports/admission.ts'
import { exportAuthorizer } from '../shared/exports/authorizer.ts'
import { exportApis } from '../shared/exports/exportapis.ts'
import { watchExports } from '../shared/exports/exports.ts'
import { slicePublisher } from './publisher.ts'

/**
 * Shows the provider of an API the objects of its consumers: exported and claimed resources in every logical
 * cluster that binds the export. See README.md beside this file.
 */
export const apiexport = defineVirtualWorkspace('apiexport', '/services/apiexport/:provider/:name', host => {
  const exports = watchExports(host)
  return {
    apis: exportApis(host, exports).of,
    ...exportAuthorizer(host, exports),
    admission: [selectorAdmission(exports), grantsAdmission(host, exports)],
    publisher: slicePublisher(exports, host),
    run: async (ready, signal) => {
      await exports.synced
      ready()
      await aborted(signal)
    },
  }
})
