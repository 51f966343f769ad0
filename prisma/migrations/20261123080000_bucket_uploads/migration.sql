-- CreateTable
CREATE TABLE "BucketUpload" (
    "key" TEXT NOT NULL,
    "uploadId" TEXT NOT NULL,
    "sizeBytes" BIGINT NOT NULL,
    "partSizeBytes" BIGINT NOT NULL,

    CONSTRAINT "BucketUpload_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "BucketPart" (
    "uploadId" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "digest" TEXT NOT NULL,
    "lengthBytes" BIGINT NOT NULL,

    CONSTRAINT "BucketPart_pkey" PRIMARY KEY ("uploadId","number")
);

-- CreateTable
CREATE TABLE "BucketPiece" (
    "uploadId" TEXT NOT NULL,
    "partNumber" INTEGER NOT NULL,
    "offset" BIGINT NOT NULL,
    "lengthBytes" BIGINT NOT NULL,
    "digest" TEXT NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "BucketPiece_pkey" PRIMARY KEY ("uploadId","partNumber","offset")
);

-- CreateIndex
CREATE UNIQUE INDEX "BucketUpload_uploadId_key" ON "BucketUpload"("uploadId");

-- AddForeignKey
ALTER TABLE "BucketPart" ADD CONSTRAINT "BucketPart_uploadId_fkey" FOREIGN KEY ("uploadId") REFERENCES "BucketUpload"("uploadId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "BucketPiece" ADD CONSTRAINT "BucketPiece_uploadId_fkey" FOREIGN KEY ("uploadId") REFERENCES "BucketUpload"("uploadId") ON DELETE CASCADE ON UPDATE CASCADE;
