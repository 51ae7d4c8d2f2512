/** The part of the WebAssembly interface we use: neither es2023 nor the Node types declare it. */
declare namespace WebAssembly {
  interface MemoryDescriptor {
    readonly initial: number;
    readonly maximum?: number;
    readonly shared?: boolean;
  }

  class Memory {
    constructor(descriptor: MemoryDescriptor);
    readonly buffer: ArrayBufferLike;
    /** Adds pages of 64 KiB; returns the page count before. @throws RangeError */
    grow(pages: number): number;
  }

  interface ExportDescriptor {
    readonly name: string;
    readonly kind: 'function' | 'global' | 'memory' | 'table';
  }

  class Module {
    constructor(bytes: Uint8Array);
    static exports(module: Module): ExportDescriptor[];
  }

  class Global {
    readonly value: unknown;
  }

  type ImportValue = Memory | ((...args: number[]) => number | void);

  interface Instance {
    readonly exports: Readonly<Record<string, unknown>>;
  }

  /** Named by the loader's types only. */
  type Table = object;
}
