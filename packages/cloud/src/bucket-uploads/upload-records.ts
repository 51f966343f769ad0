// What is recorded of an upload goes with its row. What is written for an upload that was closed meanwhile finds no row
// to belong to, and is refused by the database: so nothing can be acknowledged of it.

import { UploadClosedError } from "../blobs/blob-errors.ts";
import type { PartPlan } from "../blobs/blob-store.ts";
import type { OpenUpload, StoredPiece, UploadRecords } from "../blobs/s3/upload-records.ts";
import type { Database } from "../db/client.ts";
import type { BucketPartModel, BucketPieceModel, BucketUploadModel } from "../db/generated/models.ts";
import { onForeignKeyViolation } from "../db/sql-state.ts";
import { type Transaction, withTransaction } from "../db/transaction.ts";

/** The uploads that are open in the bucket, in the database that all processes share. */
export function keepUploadRecords(db: Pick<Database, "prisma">): UploadRecords {
  const { bucketUpload, bucketPart, bucketPiece } = db.prisma;
  return {
    async find(key) {
      const row = await bucketUpload.findUnique({ where: { key } });
      return row ? toUpload(row) : undefined;
    },
    async open({ key, uploadId, plan }) {
      const data = { key, uploadId, ...bigPlan(plan) };
      await bucketUpload.createMany({ data, skipDuplicates: true });
      const row = await bucketUpload.findUnique({ where: { key } });
      if (!row) throw new UploadClosedError(key);
      return toUpload(row);
    },
    async close(key, uploadId) {
      await bucketUpload.deleteMany({ where: { key, ...(uploadId !== undefined && { uploadId }) } });
    },
    async listTaken({ uploadId }, numbers) {
      const where = { uploadId, ...(numbers && { number: { in: [...numbers] } }) };
      return (await bucketPart.findMany({ where })).map(toPart);
    },
    async findTaken({ uploadId }, number) {
      const row = await bucketPart.findUnique({ where: { uploadId_number: { uploadId, number } } });
      return row ? toPart(row) : undefined;
    },
    take: (upload, part) => takePart(db, upload, part),
    async listPieces({ uploadId }, partNumber) {
      return findPieces(db.prisma, uploadId, partNumber);
    },
    hold: (upload, piece, decide) => withTransaction(db, (tx) => holdPiece(tx, upload, { piece, decide })),
    async forgetPieces({ uploadId }, partNumber) {
      await bucketPiece.deleteMany({ where: { uploadId, partNumber } });
    },
  };
}

async function takePart({ prisma }: Pick<Database, "prisma">, upload: OpenUpload, part: PartPlan): Promise<PartPlan> {
  const { uploadId, key } = upload;
  const { number, digest, lengthBytes } = part;
  const closed = () => {
    throw new UploadClosedError(key);
  };
  const data = { uploadId, number, digest, lengthBytes: BigInt(lengthBytes) };
  await prisma.bucketPart.createMany({ data, skipDuplicates: true }).catch(onForeignKeyViolation(closed));
  const row = await prisma.bucketPart.findUnique({ where: { uploadId_number: { uploadId, number } } });
  return row ? toPart(row) : closed();
}

interface Holding {
  readonly piece: StoredPiece;
  readonly decide: (held: readonly StoredPiece[]) => boolean;
}

/** The upload's row is locked: of two pieces for one place, the second sees the first. */
async function holdPiece(tx: Transaction, { uploadId, key }: OpenUpload, { piece, decide }: Holding): Promise<boolean> {
  const locked = await tx.$queryRaw<unknown[]>`SELECT 1 FROM "BucketUpload" WHERE "uploadId" = ${uploadId} FOR UPDATE`;
  if (locked.length === 0) throw new UploadClosedError(key);
  if (!decide(await findPieces(tx, uploadId))) return false;
  const { offset, lengthBytes, ...others } = piece;
  const data = { ...others, uploadId, offset: BigInt(offset), lengthBytes: BigInt(lengthBytes) };
  await tx.bucketPiece.create({ data });
  return true;
}

async function findPieces(
  prisma: Pick<Transaction, "bucketPiece">,
  uploadId: string,
  partNumber?: number,
): Promise<StoredPiece[]> {
  const rows = await prisma.bucketPiece.findMany({
    where: { uploadId, ...(partNumber !== undefined && { partNumber }) },
    orderBy: [{ partNumber: "asc" }, { offset: "asc" }],
  });
  return rows.map(toPiece);
}

function toUpload({ key, uploadId, sizeBytes, partSizeBytes }: BucketUploadModel): OpenUpload {
  return { key, uploadId, plan: { sizeBytes: Number(sizeBytes), partSizeBytes: Number(partSizeBytes) } };
}

function bigPlan({ sizeBytes, partSizeBytes }: OpenUpload["plan"]) {
  return { sizeBytes: BigInt(sizeBytes), partSizeBytes: BigInt(partSizeBytes) };
}

function toPart({ number, digest, lengthBytes }: BucketPartModel): PartPlan {
  return { number, digest, lengthBytes: Number(lengthBytes) };
}

function toPiece({ partNumber, offset, lengthBytes, digest, name }: BucketPieceModel): StoredPiece {
  return { partNumber, offset: Number(offset), lengthBytes: Number(lengthBytes), digest, name };
}
