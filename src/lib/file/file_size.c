/* Manages the file's size: the size that this process knows, the size that other
 * processes reported in the last agreement, and the size that the system returns. */
#include "file.h"

#include <sys/stat.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_mpi.h"

int64_t file_known_end(const struct file *f)
{
    int64_t heard = f->ds->agreed_slots[DATASET_SLOT_END];
    return heard > f->end ? heard : f->end;
}

int64_t file_expected_end(const struct file *f)
{
    int64_t end = file_known_end(f);
    return f->own_size && f->ds->announced_size > end ? f->ds->announced_size : end;
}

/* Requests the size from the server. If the file is writable, also raises the size that
 * the system knows to at least `end`. */
static void refresh_end(struct file *f, int64_t end)
{
    file_coherence_lock(&f->coherence);
    bool lost = !base_fs_refresh_size(f->own.fd);
    if (f->ds->writable && end > 0)
        lost |= !base_fs_set_known_size(f->own.fd, f->ds->base + end);
    file_coherence_unlock(&f->coherence, lost);
}

/* Updates the size. If the size that the header implies may already include values from
 * other processes, it is the new lower bound, because a close extends the file to it.
 * Until nodes have been tested (file_probe), it is unknown how they handle sizes, and a
 * previous job may have extended the file from other nodes, so the server is asked. */
static void refresh_size(struct file *f)
{
    int64_t end = file_expected_end(f), whole = cdf_file_size(&f->ds->header);
    bool more = whole > end && f->own_size;
    if (!f->own_size && whole > end && f->ds->writable)
        more = base_fs_has_bytes(f->own.fd, f->ds->base + whole);
    refresh_end(f, more ? whole : end);
}

void file_merge_end(struct file *f)
{
    if (f->bypasses_cache && f->own.fd >= 0) refresh_end(f, file_known_end(f));
}

int file_size(struct file *f, int64_t *size)
{
    struct stat st;
    MPI_Offset bytes = f->ds->base + f->end;
    MPI_File handle = f->own_handle != MPI_FILE_NULL ? f->own_handle : f->view;
    int mpi = MPI_SUCCESS;
    f->ds->stats.file_sizes++;
    if (f->own.fd >= 0) {
        if (f->bypasses_cache) refresh_size(f);
        if (fstat(f->own.fd, &st) != 0)
            return base_error_system(NC_EFILE, "getting the size of", f->ds->full_path);
        bytes = st.st_size;
    } else if (handle != MPI_FILE_NULL) {
        mpi = MPI_File_get_size(handle, &bytes);
    }
    *size = bytes > f->ds->base ? bytes - f->ds->base : 0;
    return base_mpi_error(mpi, NC_EFILE, "getting the size of the file");
}
