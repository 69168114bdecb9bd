/** UTC, whole seconds: `metav1.Time` (chapter 40, rule 3.39). */
export const timestamp = (time: Date = new Date()): string => time.toISOString().replace(/\.\d+Z$/, 'Z')
