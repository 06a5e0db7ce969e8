"""Facts about MPI and the library that the test of collective calls relies on. If an entry names a
function or member of the library, a comment explains why it can be trusted."""

ALL, NODE, LEADERS, GROUP = 'all', 'node', 'leaders', 'group'

# MPI's collective calls, each with the index of its communicator, window or file argument.
COLLECTIVE = {
    'MPI_Comm_dup': 0, 'MPI_Comm_create': 0, 'MPI_Comm_split': 0, 'MPI_Comm_split_type': 0,
    'MPI_Comm_free': 0, 'MPI_Comm_dup_with_info': 0, 'MPI_Comm_idup': 0,
    'MPI_Win_allocate_shared': 3, 'MPI_Win_allocate': 3, 'MPI_Win_create': 4,
    'MPI_Win_free': 0, 'MPI_Win_fence': 1,
    'MPI_File_open': 0, 'MPI_File_close': 0, 'MPI_File_set_view': 0, 'MPI_File_set_size': 0,
    'MPI_File_preallocate': 0, 'MPI_File_set_info': 0, 'MPI_File_set_atomicity': 0,
    'MPI_File_sync': 0, 'MPI_File_seek_shared': 0,
    'MPI_File_read_all': 0, 'MPI_File_write_all': 0, 'MPI_File_read_at_all': 0,
    'MPI_File_write_at_all': 0, 'MPI_File_iread_at_all': 0, 'MPI_File_iwrite_at_all': 0,
    'MPI_File_read_ordered': 0, 'MPI_File_write_ordered': 0,
    'MPI_Barrier': 0, 'MPI_Bcast': 4, 'MPI_Allreduce': 5, 'MPI_Reduce': 6, 'MPI_Scan': 5,
    'MPI_Exscan': 5, 'MPI_Gather': 7, 'MPI_Gatherv': 8, 'MPI_Scatter': 7, 'MPI_Scatterv': 8,
    'MPI_Allgather': 6, 'MPI_Allgatherv': 7, 'MPI_Alltoall': 6, 'MPI_Alltoallv': 8,
    'MPI_Alltoallw': 8, 'MPI_Reduce_scatter': 5, 'MPI_Reduce_scatter_block': 5,
    'MPI_Ibarrier': 0, 'MPI_Ibcast': 4, 'MPI_Iallreduce': 5,
    # The following call waits for a partner, which must also make it. Single messages (MPI_Send
    # ...) are sent only by twophase_exchange, where twophase_exchange_count_all has determined how
    # many messages each process sends and receives.
    'MPI_Sendrecv': 10,
}
# Calls that return the same error code on all processes. If such a call fails, the processes cannot
# agree on anything.
CARRIES = {'MPI_Reduce', 'MPI_Exscan'}
# Calls that store the same value on all processes, each with the index of the argument that
# receives it.
SPREADS = {'MPI_Bcast': 0, 'MPI_Allreduce': 1, 'MPI_Allgather': 3}

# Functions that wait for other processes by means other than MPI.
MEETS = {
    'node_barrier_all': NODE,  # waits for a counter in shared memory
    'node_release_all': NODE,  # frees shared objects when the node's last process releases them
}

# Communicators, windows and files that belong to only some of the dataset's processes.
SCOPE = {
    ('node', 'comm'): NODE, ('node_memory', 'window'): NODE,
    ('twophase_window', 'leaders'): LEADERS, ('twophase_window', 'column'): LEADERS,
    ('stage', 'firsts'): LEADERS,
    ('blob', 'comm'): GROUP,
}
# Datasets that only some processes have open. A call through these members is collective only over
# those processes. In a function whose name ends in _alone, such a call is local, because no other
# process has the dataset open. Lower layers are checked separately, where they are called for the
# whole dataset.
PARTS = {('blob_sub', 'ds'), ('blob_sub', 'driver')}
# Functions that return the same result to all callers.
AGREED_RESULTS = {'open_all', 'create_all', 'enddef_all', 'redef_all'}
# The driver member `at` leads from a layer to the layers whose slots it calls. It is the first
# argument of driver_call.
OWNER = ('driver', 'at')
# A process's own communicator, and handles created with it.
ALONE = {'MPI_COMM_SELF', 'alone', 'own_handle'}

# Functions that return the same result on all processes and also store the same values through the
# arguments with these indices. If the agreement itself fails, the processes cannot agree on
# anything.
AGREES = {
    'dataset_agree_all': (2, 3),
    'dataset_concur_all': (2,),  # returns an error on all processes or on none
    'dataset_share_all': (1,),
    'api_share_report_all': (4,),
    'journal_agree_all': (),  # returns an error on all processes or on none
    # These functions return an error either on all processes or on none; a process that has an
    # error returns its own.
    'find_states_all': (), 'blob_sync_all': (),
    'blob_sub_open_all': (),
    'blob_close_all': (),  # when the layer below closes, it agrees on an error
    # Returns the number of the next round: the minimum over all processes. Each process computes it
    # from the counts that it receives or, on a single node, from all slots.
    'agree_next_step': (),
    # Two processes determine the result, and then all processes agree on it.
    'file_probe_all': (1,),
    # All processes must pass the same dataset to a collective call, so an id that is invalid on one
    # process is invalid on all.
    'base_ids_find': (),
    # Returns a dataset from this process's list of deferred closes. The dataset is on the lists of
    # all of its processes, and they select the same one: either they agree on it (next_all), or the
    # same closes qualify everywhere (in MPI_Finalize, and in ncmpix_wait_closed with a path).
    'first_of': (),
    # The processes compare what they found, and use it only if it is the same everywhere.
    'api_reopen_find': (),
    # All processes of a program have the same thread level.
    'MPI_Query_thread': (0,),
    # All processes pass the same communicator.
    'MPI_Comm_test_inter': (1,),
}
# The index of the argument with which a process passes its own error to an agreement. If the
# agreement succeeds, no process had an error, so values that depended on these errors are the same
# on all processes from then on.
TELLS = {'dataset_agree_all': 1, 'dataset_concur_all': 1, 'journal_agree_all': 1}

# Shared state. The members listed here have the same value on all processes that share a dataset,
# and the analysis checks every value stored in them. All other members may differ between
# processes. None means that all members are the same, and that the analysis does not check them.
AGREED = {
    # Definitions. enddef compares them, and calls in data mode reach an agreement before they
    # change any. Collective calls agree on the number of records before they use it.
    'cdf_header': None, 'cdf_var': None, 'cdf_dim': None, 'cdf_att': None, 'cdf_atts': None,
    'hints': None,   # all processes use process 0's hints
    'hints_message': None,   # sent by process 0 before any process checks for more hints
    'driver_ops': None, 'driver_posting': None, 'driver_background': None, 'driver_prefetch_ops': None,
    'driver_files': None, 'driver_kind': None,   # constants
    'dataset': {'nprocs', 'writable', 'logs_remain', 'safe_mode', 'agreed_slots', 'header', 'hints',
                       'comm', 'failures',
                       'node',  # either all processes have a node, or none: its users agree on that
                       'partial',  # set for a subfile, which its processes open together
                       'deleted',  # the processes agree on it when a deferred close is completed
                       'open_failed',  # set if building the layers failed, on which the processes agree
                       'netcdf4',  # from process 0's mode or from the file's first bytes
                       'is_stand_in', 'base',  # from the file's first bytes, which all processes receive
                       'extend_at_close'},  # set when the subfiles of a dataset are opened together
    'driver': {'ops', 'at', 'lower', 'bottom', 'ds', 'posts', 'prefers_merged_runs'},
    'api_dataset': {'defining', 'indep', 'fresh', 'top', 'before', 'number', 'closing'},
    # These values follow from the mode, the processes, agreements, and the definitions.
    'nc4': {'parallel', 'created', 'extended', 'any_filtered'},
    # numrecs_in_file may differ only while process 0 writes it on its own.
    'mpio': {'created', 'defined', 'known_size', 'numrecs_in_file',
             'failures', 'opened_records'},
    'file': {'no_indep', 'view', 'stripe', 'shares', 'share',
             'own_size'},  # from process 0, or from an agreement after a probe
    'file_fdpass': {'board'},
    'node_board': {'state'},
    'node': {'found'},
    # An entry is stored either on all processes or on none, and all processes store entries in the
    # order of the numbers on which they have agreed.
    'node_cache': None, 'node_slot': None,
    'twophase': {'unit'},
    # Process 0 reads the journal and broadcasts its facts and state (mpio_share_journal_all). The
    # processes agree on all later changes.
    'journal_facts': None, 'journal_state': None, 'cdf_move': None, 'cdf_move_state': None,
    'cdf_gap': None,  # from both headers; running out of memory is reported before any data move
    'journal': {'facts', 'state', 'pending'},
    'journal_movers': {'j', 'before', 'after', 'share', 'least', 'arg'},
    'twophase_window': {'nodes', 'size', 'state', 'cleared', 'own'},
    'burst': {'coherent', 'node', 'indep'},
    'burst_commit': {'promised', 'doubtful'}, 'burst_logging': {'shared', 'made'},
    'parts': {'nlists'},  # 1 for a drain, 2 for a get
    # Either there is a single node, or no node has all processes of the dataset. Either all
    # processes have a table, or none has.
    'stage': {'node', 'firsts', 'nprocs', 'table'},
    'cdf_superblock': None,  # process 0 reads or creates it, and broadcasts it
    'subfile_foreign': None,  # from a header that all processes have decoded
    # All processes know whether every group's subfile exists: if one group lacks its subfile, no
    # group uses subfiles.
    'blob': {'base', 'facts', 'foreign', 'fresh', 'grouped', 'settles', 'own', 'comm',
             'ndecomps', 'nvars', 'state', 'open_vars', 'last', 'torn',
             'join', 'deferred',  # started either by all processes or by none
             'makes'},  # from the page that process 0 has read or created
    'blob_sub': set(),
    # All processes have the same table and derive their decision about a variable from it, so the
    # decisions are the same.
    'decision': {'table', 'tile', 'fresh', 'nfresh', 'state'},
    'blob_new': {'number', 'varid', 'print', 'total'},
    'api_queue': set(),
}
# Functions that may store values before the processes have agreed on them.
UNCHECKED = {
    'dataset_agree_all',                           # implements the agreement
    'prepare_all', 'ncmpi_create', 'ncmpi_open',  # followed by agree_on_terms_all
    'mpio_write_numrecs_all', 'mpio_write_header_all', 'mpio_sync_numrecs', 'mpio_move_all',  # see numrecs_in_file
    'resume_all',                                 # from headers that all processes have decoded
    'record_all',                                 # stores the argument of journal_record
    'adopt_definitions', 'end_change',            # store either process 0's definitions or the old ones
    'restore_comm',                                  # the processes agree on whether all succeeded
    'begin_all', 'share_all', 'stage_nodes_create_comm_all',  # followed by an agreement
    'stage_cache_take_all', 'store_in_cache',           # entries are used only if all processes have stored them
    'share_space_all', 'node_find_all', 'find_node_all', 'make_window_all',  # the callers agree on the result
    'file_fdpass_begin_all',                        # the processes agree on whether all have a window
    'new_sub', 'blob_sub_open_all',               # for a subfile, whose processes store the same values
    'blob_grow', 'make_comm_all',   # followed by an agreement on whether all processes have it
    'create_files_all', 'open_groups_all',        # the processes agree on whether all have their subfile
    'prepare_decision',                           # blob_decompose_all agrees on it
    'use_whole_all',                              # from a header that all processes have decoded
}
# Static variables that have the same value on all processes, such as constants.
SHARED = {'driver_registry',
          'list', 'listed'}  # deferred closes, on which their processes agree

# Members that have the same value on all processes that share a subfile.
GROUPWISE = {('blob', 'group'), ('blob', 'size'), ('blob', 'unfinished'),
             ('blob_sub', 'defined'), ('blob_sub', 'driver'), ('blob_decomp', 'read')}

# Members that have the same value on all processes of a node, and ranks that are 0 on the first
# process of a node.
NODEWISE = {('node_memory', 'bytes'), ('twophase_window', 'nprocs'), ('node', 'nprocs'), ('node', 'comm'),
            ('node', 'references'), ('node_memory', 'window')}
FIRST = {('twophase_window', 'rank'), ('node', 'rank')}
# Only the first process of each node has these communicators.
FIRSTS = {('twophase_window', 'leaders'), ('twophase_window', 'column')}

# Names of variables that are trusted to be the same on all processes. `comm` is among them because
# a process that passes no communicator to create or open cannot inform the other processes.
ALIKE = {'how', 'put', 'comm'}

# Functions whose results depend only on their arguments. Those in HANDS_ON return one of their
# arguments, the one with this index.
HANDS_ON = {'base_error_set': 0, 'base_error_named': 0, 'base_mpi_error': 0, 'explain': 1}
PURE = {'base_mpi_error', 'base_error_set', 'base_error_named', 'base_error_detail', 'explain',
        'strnlen', 'strcmp', 'strlen', 'memcmp', 'strchr', 'strncmp', 'memcpy', 'memset', 'strncpy',
        'memchr', 'snprintf', 'strcasecmp', 'strncasecmp', '__builtin_mul_overflow',
        '__builtin_add_overflow', '__builtin_ctzll', '__builtin_popcountll'}
MEMORY = {'malloc', 'calloc', 'realloc', 'strdup'}
# Functions of modules without MPI, which this analysis does not cover. Their results depend only on
# the definitions.
PURE |= {'subfile_foreign_kind', 'cdf_init', 'cdf_file_size', 'cdf_type_size', 'cdf_next_move', 'cdf_encode_numrecs',
         'cdf_max_records', 'cdf_encoded_size', 'cdf_move_total', 'cdf_seek_move',
         'cdf_next_move', 'cdf_find_gap', 'cdf_gap_extent_at'}
PURE_INTO = {'memcpy', 'memset', 'strncpy'}
